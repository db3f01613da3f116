// Command local runs the whole stack on one machine: Postgres, Redis, the
// services, the venue simulator and the development issuer, as ordinary
// processes on 127.0.0.1.
//
// All it keeps is in one state directory, so two stacks never meet. Postgres
// runs durable, with its data on disk. A process that dies is started again; when
// the launcher dies, even by SIGKILL, everything it started ends with it.
package main
