"""Start kernels inside a sandbox in a tenth of a second, by forking a process that has imported everything.

`zygote` is that process, a fork server. For each kernel it forks a `supervisor`, which makes the sandbox and watches
the kernel. `zygote_client` asks for kernels, and `provisioner` hands them to Jupyter's client.
"""
