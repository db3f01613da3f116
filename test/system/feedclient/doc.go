// Package feedclient has the readers of the live feed: they listen as the programs of the
// product's users do, are cut off and killed, and write down what they were told, so
// that it can be compared with the record.
package feedclient
