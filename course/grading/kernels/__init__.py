"""Kernels that start in a tenth of a second: forked from a process that has everything imported, inside a sandbox.

`zygote` is that process, `supervisor` the one it forks for each kernel, which makes its sandbox and watches over it,
`zygote_client` asks for kernels, and `provisioner` is how Jupyter's client gets them.
"""
