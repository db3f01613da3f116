package main

import (
	"fmt"
	"math"
	"time"

	"github.com/signalcast/signalcast/test/system/stack"
)

// noticeLease is the number of the lease with which a hub runs the notification worker.
const noticeLease = 7201029

// notifyTarget is the maximum of the CPU time of Postgres for one call, divided by the time without the notification worker.
const notifyTarget = 1.03

// notifications compares the CPU time of Postgres for a filed call with and without the notification worker of the hub. The
// callers have no followers, so only their own milestones cause notifications.
func (b *bench) notifications(f *filer, clients int) {
	var with, without []float64
	for range b.rounds {
		resume := b.main.pauseNotifications()
		off := b.filedPostgres(f, clients, func() {})
		resume()
		on := b.filedPostgres(f, clients, b.main.awaitNotified)
		fmt.Printf("notify c=%d postgres_us=%.1f without_worker_us=%.1f\n", clients, on, off)
		with, without = append(with, on), append(without, off)
	}
	b.report.ratio("notification worker / without, postgres cpu", "us", lower, notifyTarget, with, without)
}

// filedPostgres files calls for the length of one measurement and waits until their events are published, and until the function
// done returns. It returns the CPU time of Postgres in microseconds per call.
func (b *bench) filedPostgres(f *filer, clients int, done func()) float64 {
	b.awaitQuiet(b.main)
	pid := b.main.pid("postgres")
	before := treeTime(pid)
	n := b.load(b.main.Hub, clients, b.length, f.one).n
	b.main.awaitPublished()
	done()
	return micros(treeTime(pid)-before, math.Max(1, float64(n)))
}

// awaitNotified waits until the notification worker of the hub has processed all events of the feed.
func (s *system) awaitNotified() {
	stack.Eventually(s.b, 5*time.Minute, "notifications of all events", func() bool {
		return stack.Query[bool](s.b, s.Stack, "SELECT coalesce((SELECT seq FROM hub.notification_cursor), 0) >= "+
			"(SELECT max(seq) FROM api.protocol_events)")
	})
}

// pauseNotifications stops the notification worker by taking its lease. The function resume releases the lease and waits until the
// worker has processed all events of the feed.
func (s *system) pauseNotifications() (resume func()) {
	conn := must(s.DB(s.b).Acquire(s.b.ctx))
	for held := false; !held; { // the worker takes a free lease within a second
		s.exec("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND granted", noticeLease)
		check(conn.QueryRow(s.b.ctx, "SELECT pg_try_advisory_lock($1)", noticeLease).Scan(&held))
	}
	return func() {
		_, err := conn.Exec(s.b.ctx, "SELECT pg_advisory_unlock($1)", noticeLease)
		conn.Release()
		check(err)
		s.awaitNotified()
	}
}
