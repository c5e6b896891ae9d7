"""Answers one JSON object a line, {"code": ...}, with one that says what it did."""
import ast, builtins, io, json, linecache, os, signal, sys, time, traceback, types

CAPTURE_LIMIT = 8 << 20  # bytes of stdout and stderr together, and of a result
REPLY_LIMIT = 10 << 20  # the reader's own limit, which no reply may reach

# The protocol moves to descriptors of its own, which no program started from here
# inherits. What is written to descriptor 1 past Python (C libraries, children) goes
# to the process's stderr, which is always drained; what reads descriptor 0 finds its end.
requests = os.fdopen(os.dup(0), "rb")
replies = os.dup(1)
os.dup2(2, 1)
null = os.open(os.devnull, os.O_RDONLY)
os.dup2(null, 0)
os.close(null)
driver = os.getpid()


class OutputLimit(BaseException):
    """Not an Exception: `except Exception` around a print must not swallow it."""


class Capture(io.RawIOBase):
    size = 0  # of both streams together, so kept in the class

    def __init__(self, fd):
        self.fd, self.parts = fd, []

    def writable(self):
        return True

    def fileno(self):
        return self.fd

    def write(self, data):
        room = CAPTURE_LIMIT - Capture.size
        self.parts.append(bytes(data[:room]))
        Capture.size += min(len(data), room)
        if len(data) > room:
            raise OutputLimit("output exceeded %d bytes" % CAPTURE_LIMIT)
        return len(data)

    def take(self):
        text = b"".join(self.parts).decode("utf-8", "replace")
        self.parts.clear()
        return text


def stream(fd):
    raw = Capture(fd)
    return raw, io.TextIOWrapper(raw, "utf-8", "backslashreplace", newline="", write_through=True)


def clean(text):
    """JSON has no way to write half of a surrogate pair."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def failure():
    """The traceback without the frames of this driver."""
    kind, value, tb = sys.exc_info()
    while tb and tb.tb_frame.f_globals is globals():
        tb = tb.tb_next
    return "".join(traceback.format_exception(kind, value, tb)).rstrip("\n")


def execute(code, name, space):
    """Runs the code, and gives the value of its last expression as text."""
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    tree = compile(code, name, "exec", ast.PyCF_ONLY_AST)  # ast.parse would be a frame in the traceback
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, name, "exec"), space)
    if last is None:
        return None
    value = eval(compile(ast.Expression(last.value), name, "eval"), space)
    if value is None:
        return None
    builtins._ = value
    text = repr(value)
    if len(text) > CAPTURE_LIMIT:
        raise OutputLimit("the result's text exceeded %d characters" % CAPTURE_LIMIT)
    return clean(text)


def attempt(code, name, space):
    """One request: the reply without its output."""
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        return {"ok": True, "result": execute(code, name, space), "error": None}
    except SystemExit as leaving:
        if leaving.code in (None, 0):
            return {"ok": True, "result": None, "error": None}
        return {"ok": False, "result": None, "error": clean("SystemExit: %s" % (leaving.code,))}
    except OutputLimit as limit:
        return {"ok": False, "result": None, "error": str(limit)}
    except BaseException:
        return {"ok": False, "result": None, "error": clean(failure())}
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def send(reply):
    line = json.dumps(reply, ensure_ascii=False).encode() + b"\n"
    if len(line) > REPLY_LIMIT:
        error = "the reply exceeded %d bytes" % REPLY_LIMIT
        line = json.dumps({"ok": False, "error": error, "timed_out": "timed_out" in reply}).encode() + b"\n"
    view = memoryview(line)
    while view:
        view = view[os.write(replies, view):]


class Limit:
    """The end of a run's time, at which its reply says what it had printed and where it was.

    It comes as a signal to the main thread, which also wakes a sleep. The code is not
    resumed: whoever reads that reply ends this process.
    """

    def __init__(self, seconds, streams):
        self.seconds, self.streams, self.due = seconds, streams, None

    def __enter__(self):
        if self.seconds is not None:
            self.due = time.monotonic() + self.seconds
            self.before = signal.signal(signal.SIGALRM, self.over)
            signal.setitimer(signal.ITIMER_REAL, self.seconds)

    def __exit__(self, *_):
        if self.due is not None:
            self.due = None  # first: a signal may be on its way
            signal.setitimer(signal.ITIMER_REAL, 0)
            if signal.getsignal(signal.SIGALRM) == self.over:
                signal.signal(signal.SIGALRM, self.before)

    def over(self, number, frame):
        if self.due is None:
            return
        if os.getpid() != driver or time.monotonic() < self.due:  # the code's own alarm, which it doesn't handle
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        stack = traceback.StackSummary(f for f in traceback.extract_stack(frame) if f.filename != "<string>")
        where = "Traceback (most recent call last):\n" + "".join(stack.format()) + "its time ended here"
        out, err = (raw.take() for raw in self.streams)
        send({"timed_out": True, "ok": False, "error": clean(where), "stdout": out, "stderr": err})
        while True:
            signal.pause()


def name_of(count):
    """The code's name in a traceback. The first request warms up; more than one run
    is for a child that serves many, where one may call what another has defined."""
    if count == 0:
        return "<warm-up>"
    return "<run>" if count == 1 else "<run %d>" % count


def serve():
    main = types.ModuleType("__main__")
    main.__builtins__ = builtins
    sys.modules["__main__"] = main
    sys.path.insert(0, os.getcwd())
    sys.argv = [""]
    out_raw, out = stream(1)
    err_raw, err = stream(2)
    for count, line in enumerate(requests):
        out_raw.parts.clear()
        err_raw.parts.clear()
        Capture.size = 0
        sys.stdout = sys.__stdout__ = out
        sys.stderr = sys.__stderr__ = err
        request = json.loads(line)
        with Limit(request.get("limit"), (out_raw, err_raw)):
            reply = attempt(request["code"], name_of(count), main.__dict__)
        if os.getpid() != driver:
            os._exit(0)  # a fork that came back here must not answer as well
        reply["stdout"], reply["stderr"] = out_raw.take(), err_raw.take()
        send(reply)


signal.signal(signal.SIGINT, signal.SIG_IGN)
serve()
