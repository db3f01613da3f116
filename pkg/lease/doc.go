// Package lease elects one process of all replicas with an advisory lock of Postgres.
package lease
