// Package journal makes changes of stored rows detectable. The hash of each row that is written once becomes a leaf of one
// growing Merkle tree (RFC 6962). The root of the tree is signed as a checkpoint. Anyone who has stored a checkpoint elsewhere
// can detect a later change of the leaves that it covers. The package does not depend on the tables or on the storage of the
// tree.
package journal
