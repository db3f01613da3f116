// Package journal makes changes of stored rows detectable. It covers rows that are written once and must not change. The hash
// of each of these rows becomes a leaf of one growing Merkle tree (RFC 6962). The root of the tree is signed as a checkpoint.
// Anyone who has stored a checkpoint elsewhere can detect a later change of the leaves that it covers. The package does not
// depend on the database tables or on the storage of the tree.
package journal
