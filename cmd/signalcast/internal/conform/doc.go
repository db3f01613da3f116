// Package conform asks any server that claims to speak the protocol whether it does:
// black-box checks, each with its source in the specification or the contract, and
// nothing that only one implementation has.
//
// It trusts no server: time, bodies, headers and the number of requests are bounded,
// no redirect is followed, and what a server says is cleaned before it is shown.
// Without a key it only reads.
package conform
