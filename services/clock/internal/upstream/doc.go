// Package upstream is the ledger as the clock sees it: the markets that may be
// put on the air, and the state of those that already are.
//
// One copy of them is kept in memory and swapped whole; the last one stays when
// the ledger is away. The package sees protobuf and gives types of package
// program; it knows no HTTP and no database.
package upstream
