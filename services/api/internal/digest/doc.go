// Package digest reads the figures of one day for the daily digest. The query reads whole days and runs rarely. The package
// has no dependency on transport or storage.
package digest
