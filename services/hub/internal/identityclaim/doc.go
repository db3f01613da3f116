// Package identityclaim is which wallets operators say are theirs, on which partner
// station, proven by their identity provider at the moment of the claim; and where
// an operator may be paid. A claim is made to be published. The package knows no
// HTTP and no storage.
package identityclaim
