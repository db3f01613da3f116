// Package identityclaim manages identity claims and payout addresses. With an identity claim, an operator claims publicly to own
// a wallet at a partner station. The identity provider of the operator must confirm this. The package contains no HTTP and no
// SQL.
package identityclaim
