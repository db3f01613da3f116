// Package settings finds the addresses of the hub and the api and the key: in the flags, then in the environment, then in
// the file that `signalcast login` writes.
//
// A key is never an argument, because every user of the machine can read the arguments of its programs. A stored key is sent
// only to the hub that it was stored for.
package settings
