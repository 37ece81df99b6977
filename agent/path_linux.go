package agent

import "golang.org/x/sys/unix"

// pathOnly opens a folder that may be passed and not be read (open(2)).
const pathOnly = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
