// Package settings says which hub and api are asked, with which key: flags first, then
// the environment, then the file that `signalcast login` writes.
//
// A key never comes from the command line, where every user of the machine can read it.
// A key belongs to the hub that it was stored for, and is shown to no other.
package settings
