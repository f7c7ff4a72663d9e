"""Probes, each a cell of one notebook: they reach for what is not theirs, and must end in an error that says so.

Names in capitals are what `World.names` tells of the aims.
"""

from __future__ import annotations

from typing import NamedTuple


class Probe(NamedTuple):
    """A cell; `only` names the one tier that promises to stop it."""

    name: str
    aim: str
    source: str
    only: str = ""


_SYSCALL = """import ctypes, os
_libc = ctypes.CDLL(None, use_errno=True)
def syscall(*arguments):
    answer = _libc.syscall(*(ctypes.c_long(a) if isinstance(a, int) else a for a in arguments))
    if answer < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return answer"""

PREPARED = f"import os, signal, socket, struct, subprocess, sys, threading, time\n{_SYSCALL}"
"""What the cells have in common, run before them."""

READING = (
    Probe("read the gradebook", "a file", "print(open(GRADEBOOK).read())"),
    Probe("read another submission", "a file", "print(open(SUBMISSION).read())"),
    Probe("read solutions/", "a file", "print(open(SOLUTION).read())"),
    Probe("read the hidden tests", "a file", "print(open(HIDDEN).read())"),
    Probe("list the course's folder", "a folder", "print(os.listdir(ROOT))"),
    Probe("import the hidden tests", "a module", "import course.hidden"),
    Probe("import the references", "a module", "import course.reference.self_attention"),
    Probe("read through a symbolic link", "a file", "os.symlink(GRADEBOOK, 'link'); print(open('link').read())"),
    Probe("hard link to the gradebook", "a file", "os.link(GRADEBOOK, 'hard'); print(open('hard').read())"),
    Probe("environment of the grader", "a variable", "print(os.environ['CANARY'])"),
    Probe("environment in /proc", "a process", "print(open(f'/proc/{VICTIM}/environ').read())"),
    Probe("command line in /proc", "a process", "print(open(f'/proc/{VICTIM}/cmdline').read())"),
    Probe("memory in /proc", "a process", "open(f'/proc/{VICTIM}/mem', 'rb').read(1)"),
    Probe("memory of the grader", "a process", "open(f'/proc/{GRADER}/mem', 'rb').read(1)"),
    Probe(
        "descriptors of the parents",
        "open files",
        "for number in range(3, 1024):\n"
        "    try: print(os.pread(number, 100, 0))\n"
        "    except OSError: pass\n"
        "os.lseek(int(max(os.listdir('/dev/fd'), key=int)) + 1000 if os.path.isdir('/dev/fd') else 1000, 0, 0)",
    ),
)

PROCESSES = (
    Probe("process_vm_readv", "a process", "syscall(CALLS['process_vm_readv'], VICTIM, 0, 0, 0, 0, 0)"),
    Probe("ptrace", "a process", "syscall(CALLS['ptrace'], 16, VICTIM, 0, 0)"),
    Probe("pidfd_getfd", "a process", "syscall(CALLS['pidfd_getfd'], 3, 0, 0)"),
    Probe("signal to the grader", "a process", "os.kill(GRADER, signal.SIGURG)"),
    Probe("signal to another process", "a process", "os.kill(VICTIM, signal.SIGTERM)"),
    Probe(
        "signal by a descriptor",
        "a process",
        """import fcntl
here, there = socket.socketpair()
fcntl.fcntl(here, fcntl.F_SETOWN, VICTIM)
fcntl.fcntl(here, 10, signal.SIGKILL)
fcntl.fcntl(here, fcntl.F_SETFL, os.O_ASYNC)
there.send(b"x")
raise OSError("nothing was refused: see whether the process lives")""",
    ),
    Probe("limits of the grader", "a process", "import resource; resource.prlimit(GRADER, resource.RLIMIT_CORE)"),
    Probe("keyctl", "the kernel", "syscall(CALLS['keyctl'], 0, -3, 0)"),
    Probe("bpf", "the kernel", "syscall(CALLS['bpf'], 0, 0, 0)"),
    Probe("perf_event_open", "the kernel", "syscall(CALLS['perf_event_open'], 0, 0, -1, -1, 0)"),
    Probe("userfaultfd", "the kernel", "syscall(CALLS['userfaultfd'], 1)"),
    Probe("io_uring", "the kernel", "syscall(CALLS['io_uring_setup'], 1, 0)"),
    Probe("memory without a name", "memory", "syscall(CALLS['memfd_create'], b'x', 0)"),
    Probe("mount", "the kernel", "syscall(CALLS['mount'], b'none', b'/tmp', b'tmpfs', 0, 0)"),
    Probe("a user namespace of its own", "the kernel", "syscall(CALLS['unshare'], 0x10000000)"),
    Probe("become root", "rights", "os.setuid(0) if os.getuid() else os.chroot('/')"),
    Probe("make a device", "the kernel", "import stat; os.mknod('disk', stat.S_IFBLK | 0o600, os.makedev(8, 0))"),
)

WRITING = (
    Probe("write beside the gradebook", "a file", "open(ROOT + '/written', 'w').write('x')"),
    Probe("write into the gradebook", "a file", "open(GRADEBOOK, 'a').write('x')"),
    Probe("delete the gradebook", "a file", "os.unlink(GRADEBOOK)"),
    Probe("rename the solutions", "a file", "os.rename(SOLUTION, SOLUTION + '.old')"),
    Probe("write into the course", "a file", "import course; open(course.__file__, 'a').write('#')"),
    Probe("write into Python", "a file", "open(os.path.dirname(os.__file__) + '/sitecustomize.py', 'w')"),
    Probe("write into torch", "a file", "import torch; open(torch.__file__, 'a').write('#')"),
    Probe("write into /etc", "a file", "open('/etc/canary', 'w')"),
)

NETWORK = (
    Probe("IPv4", "a listener", "socket.create_connection(('127.0.0.1', PORT4), 2)"),
    Probe("IPv6", "a listener", "socket.socket(socket.AF_INET6).connect(('::1', PORT6))"),
    Probe("a datagram", "a listener", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT4))"),
    Probe("netlink", "the kernel", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)"),
    Probe("an abstract socket", "a listener", "socket.socket(socket.AF_UNIX).connect('\\0' + ABSTRACT)"),
    Probe("a named socket", "a listener", "socket.socket(socket.AF_UNIX).connect(ROOT + '/socket')", "bubblewrap"),
    Probe(
        "order a free kernel of the zygote",
        "the sandbox",
        """import json
order = {"tier": "none", "folder": "/", "environment": {}, "seed": 0, "command": [],
    "arguments": ["--IPKernelApp.exec_lines=open(%r, 'w').close()" % ORDERED],
    "confines": {"private": "/tmp", "readable": [], "gpu": False,
        "allowance": dict.fromkeys(("memory", "processes", "file", "disk", "cpu"))}}
with socket.socket(socket.AF_UNIX) as line:
    line.settimeout(5)
    line.connect(sys.orig_argv[3])
    line.sendall(json.dumps(order).encode() + b"\\n")
    answer = line.recv(1000)
    time.sleep(2)
    if not answer:
        raise ConnectionError("the zygote hung up")""",
    ),
)

OUTPUT = (
    Probe("endless output", "the grader's memory", "while True: print('x' * 1000)"),
    Probe("a large result", "the grader's memory", "'x' * 300_000"),
    Probe("a large error", "the grader's memory", "raise ValueError('x' * 300_000)"),
    Probe(
        "a small output made large later",
        "the grader's memory",
        "from IPython.display import display\nshown = display('a', display_id='a')\nshown.update('x' * 300_000)",
    ),
    Probe(
        "large widgets",
        "the grader's memory",
        "from comm import create_comm\n"
        "for _ in range(5): create_comm(target_name='jupyter.widget', data={'state': {'a': 'x' * 50_000}})",
    ),
    Probe(
        "deep output",
        "the grader's stack",
        "deep = []\nfor _ in range(700): deep = [deep]\n"
        "from IPython.display import display\ndisplay({'application/json': deep}, raw=True)",
    ),
    Probe(
        "ten million brackets",
        "the grader's memory",
        "from IPython.display import display\ndisplay({'application/json': [[0]] * 2_000_000}, raw=True)",
    ),
    Probe(
        "a small message of empty dicts",
        "the grader's memory",
        "from IPython.display import display\ndisplay({'application/json': [{}] * 30_000}, raw=True)",
    ),
    Probe("half a character", "the graded notebook", "raise ValueError('\\ud800')"),
    Probe(
        "a forged output of no known form",
        "the graded notebook",
        "kernel = get_ipython().kernel\n"
        "kernel.session.send(kernel.iopub_socket, 'stream', {'name': 5, 'text': {'a': 1}}, parent=kernel.get_parent())",
    ),
)

FILES = (
    Probe(
        "a pickled checkpoint",
        "the grader",
        "import pickle, torch\n"
        "class Opened:\n"
        "    def __reduce__(self): return print, ('unpickled',)\n"
        "open('model.safetensors', 'wb').write(pickle.dumps(Opened()))\n"
        "from pathlib import Path\nfrom course.notebook.checkpoint import load_into\n"
        "load_into(torch.nn.Linear(2, 2), Path('model.safetensors'))",
    ),
    Probe(
        "safetensors with a lying header",
        "the grader's memory",
        'lie = b\'{"weight":{"dtype":"F32","shape":[1099511627776],"data_offsets":[0,4398046511104]}}\'\n'
        "open('lie.safetensors', 'wb').write(struct.pack('<Q', len(lie)) + lie)\n"
        "load_into(torch.nn.Linear(2, 2), Path('lie.safetensors'))",
    ),
    Probe(
        "names no archive can hold",
        "the result",
        "open(b'\\xff.txt', 'w').close(); open('a\\nb', 'w').close(); open('..\\\\..\\\\up', 'w').close()\n"
        "open(ROOT + '/../up', 'w')",
    ),
)

LIVING_ON = (
    Probe(
        "a process in a session of its own",
        "the machine after grading",
        "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', MARK], start_new_session=True)\n"
        "import atexit; atexit.register(lambda: open(ROOT + '/atexit', 'w'))\n"
        "threading.Thread(target=time.sleep, args=(600,)).start()\n"
        "open(ROOT + '/alive', 'w')",
    ),
    Probe(
        "a loop that ignores interrupts",
        "the grader's time",
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "while True: time.sleep(0.01)",
    ),
)

ALL = (*READING, *PROCESSES, *WRITING, *NETWORK, *FILES, *OUTPUT, *LIVING_ON)

BOMBS = (
    Probe(
        "fork bomb",
        "processes",
        "for _ in range(300):\n    if not os.fork(): time.sleep(60); os._exit(0)\ntime.sleep(5)",
    ),
    Probe(
        "memory bomb",
        "memory",
        "held = []\nfor _ in range(200): held.append(bytearray(b'1' * 8_000_000)); time.sleep(0.01)",
    ),
    Probe(
        "disk filler",
        "the disk",
        "for n in range(60):\n    open(f'{n}', 'wb').write(bytes(4_000_000)); time.sleep(0.03)",
    ),
    Probe(
        "disk filler of deleted files",
        "the disk",
        "held = []\nfor n in range(60):\n    held.append(open('f', 'wb')); os.unlink('f')\n"
        "    held[-1].write(bytes(4_000_000)); time.sleep(0.03)",
    ),
    Probe(
        "folders in folders",
        "the clearing up",
        "for _ in range(300): os.mkdir('d' * 50); os.chdir('d' * 50)\ntime.sleep(5)",
    ),
    Probe("an end in the middle", "the verdicts", "os._exit(0)"),
)
"""Each ends its notebook, and so has one of its own."""
