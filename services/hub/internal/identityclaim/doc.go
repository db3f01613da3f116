// Package identityclaim manages public claims of operators that a wallet is theirs on a partner station, which their
// identity provider must confirm, and the addresses for payouts to operators. The package contains no HTTP and no SQL.
package identityclaim
