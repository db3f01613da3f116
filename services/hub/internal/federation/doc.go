// Package federation merges the tapes (clips) and operators of this station with the tapes and operators of its partner
// stations. Data of partners is not trusted. Each entry is validated separately and is always shown under the registered name
// of the partner that sent it.
package federation
