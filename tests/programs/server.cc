// The first process of a server: it starts the command of its arguments, whose input ends with it,
// and waits for the end of its own. It does not use CUDA.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

int main(int argc, char** argv) {
  int input[2];
  if (argc < 2 || pipe(input) != 0) return 2;
  const pid_t worker = fork();
  if (worker < 0) return 3;
  if (worker == 0) {
    dup2(input[0], STDIN_FILENO);
    close(input[0]);
    close(input[1]);
    execv(argv[1], argv + 1);
    _exit(127);
  }
  close(input[0]);
  char byte = 0;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
  close(input[1]);
  int status = 0;
  waitpid(worker, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 4;
}
