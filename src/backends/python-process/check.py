# Compiles the program of standard input as the guest does and runs nothing of it. A line of JSON on standard output says
# what is wrong; no line, that nothing is.
#
# Argument: the guest's file.
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    source = file.read()
guest = {"__name__": "guest"}
exec(compile(source, "guest.py", "exec"), guest)


def throw(message, frames, details=""):
    text = '{"message":%s,"frames":[%s]}\n' % (guest["quote"](message), ",".join(frames))
    sys.stdout.buffer.write(text.encode())


guest["throw"] = throw
text = sys.stdin.buffer.read().decode("utf-8", "surrogatepass")
names = vars(guest["Main"]("__main__"))
guest["source_lines"][:] = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
try:
    if len(text) <= guest["LONG"] or guest["compile_apart"](text, names) is None:
        guest["compile_program"](text, names)
except BaseException as error:
    guest["reject"](error)
