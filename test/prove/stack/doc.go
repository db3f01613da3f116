// Package stack starts one whole system with the launcher of `make up` and
// steers it: it kills, hangs and holds down its processes, and starts further
// ones beside them with other settings.
//
// Processes are found in the stack.json of that one system, and no other process
// is ever signalled. It needs Linux: it reads /proc.
package stack
