// Package journal makes changes of stored rows detectable. Each row that is written once is hashed and added as a leaf to one
// growing Merkle tree (RFC 6962). The root of the tree is signed as a checkpoint. Anyone who has stored a checkpoint
// elsewhere can detect a later change of the leaves before it. The package has no dependency on the tables or on the storage
// of the tree.
package journal
