// Package federation tests two whole systems that are partner stations of each other, and partners that lie, hang and flood.
package federation
