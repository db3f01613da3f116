// Command local runs the whole stack on one machine: Postgres, Redis, the services, the venue simulator and the development
// issuer. They listen on 127.0.0.1.
//
// All files of a stack are in one state directory. Postgres stores its data on disk. The launcher restarts a process that
// ends. When the launcher ends, even by SIGKILL, all its processes end.
package main
