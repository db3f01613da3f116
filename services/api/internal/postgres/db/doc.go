// Package db contains the statements of queries/ as Go methods with typed parameters and rows. sqlc generates it; run tools/gen.sh.
package db
