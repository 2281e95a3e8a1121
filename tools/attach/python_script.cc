#include "tools/attach/python_script.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace utlz::attach {
namespace {

// The main thread, between two bytecodes of the program, only starts a thread: there the loader's
// lock can be waited for, the program's signal handlers never run, and nothing of the program's is
// in progress. What a handler raises in the main thread meanwhile is not ours to catch.
constexpr char kScript[] = R"py(
def load():
    sockets = []
    try:
        import _ctypes, _socket, fcntl, posix

        def identity(number):
            status = posix.fstat(number)
            return status.st_dev, status.st_ino

        def close(number, ours):
            if identity(number) == ours:
                posix.close(number)

        talk = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        sockets.append(talk)
        talk.settimeout(2)
        talk.connect('$PATH')
        link = _socket.socket(_socket.AF_UNIX, _socket.SOCK_SEQPACKET)
        sockets.append(link)
        link.connect('$PATH')
        try:
            number = fcntl.fcntl(link.fileno(), fcntl.F_DUPFD_CLOEXEC, 128)
        except OSError:
            number = fcntl.fcntl(link.fileno(), fcntl.F_DUPFD_CLOEXEC, 0)
        our_number = identity(number)
        answer = b''
        try:
            talk.send(b'%d' % number)
            items = talk.recvmsg(1, 64, _socket.MSG_CMSG_CLOEXEC)[1]
            library = memoryview(items[0][2]).cast('i')[0]
            our_library = identity(library)
            try:
                _ctypes.dlopen('/proc/self/fd/../fd/%d' % library, $FLAGS)
                answer = b'$LOADED'
            except OSError as error:
                answer = str(error).encode(errors='replace')[:$MOST]
            close(library, our_library)
            talk.send(answer)
        finally:
            if answer != b'$LOADED':
                close(number, our_number)
    except BaseException:
        pass
    finally:
        for socket in sockets:
            socket.close()
try:
    import _thread
    _thread.start_new_thread(load, ())
except (RuntimeError, MemoryError):
    pass
del load
)py";

}  // namespace

std::string PythonScript(const std::string& socket_path) {
  constexpr int kNowAndLocal = 2;  // RTLD_NOW | RTLD_LOCAL, of glibc on every architecture
  return absl::StrReplaceAll(kScript, {{"$PATH", socket_path},
                                       {"$FLAGS", absl::StrCat(kNowAndLocal)},
                                       {"$LOADED", kScriptLoaded},
                                       {"$MOST", absl::StrCat(kMaxScriptAnswerBytes)}});
}

}  // namespace utlz::attach
