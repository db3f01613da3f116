// Package federation merges the tapes and operators of this station and of its partner stations. Data of partners is
// not trusted: each entry is validated separately and is always shown under the registered name of the partner that
// sent it.
package federation
