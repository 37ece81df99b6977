// Package soak lets real processes of remuda live through a long bad day, and judges what came of it.
//
// Workers play workflows without a pause: request, jobs, release. Beside them a saboteur picks, by a
// seed, a victim among controllers, agents, listeners and clients, and a fault: kill -9, SIGSTOP for some
// seconds, a full disk. Controllers are started again as their unit file says. In the end `remuda audit`
// judges, and so do the jobs' own traces, the simulated GitHub, the witness and the list of processes.
//
// The ordinary tests cause a few faults. `make soak` kills the leading controller 200 times; KILLS, SEED and
// BACKEND (embedded or aws) change that. The table at the end tells what was done, how long restarts took,
// and what was measured beside them.
package soak
