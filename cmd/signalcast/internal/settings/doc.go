// Package settings finds the addresses of the hub and the api, and the operator key. It looks at the flags, then at the
// environment, then at the file that `signalcast login` writes.
//
// A key is never an argument, because every user of the machine can read the arguments of its programs. A stored key is sent
// only to the hub for which it was stored.
package settings
