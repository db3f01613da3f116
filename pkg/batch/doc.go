// Package batch sends items in batches without a timer. An item that is added while no batch is in flight is sent at once.
// Items that are added while a batch is in flight form the next batch, so batches grow only under load.
package batch
