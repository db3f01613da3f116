// Package batch joins items that wait at the same moment into batches, without a timer: an item that arrives while no batch is
// under way is sent at once, and batches grow only while earlier ones are under way.
package batch
