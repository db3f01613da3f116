// Package lease elects one leader among the replicas of a service with an advisory lock of Postgres.
package lease
