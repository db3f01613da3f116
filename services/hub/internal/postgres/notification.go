package postgres

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/pkg/pg"
	"github.com/signalcast/signalcast/services/hub/internal/caller"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
	"github.com/signalcast/signalcast/services/hub/internal/postgres/db"
)

// sweptNotifications is the maximum number of notifications that one statement deletes.
const sweptNotifications = 5000

// NotificationCursor implements notification.WorkerStore.
func (s *Store) NotificationCursor(ctx context.Context, start func() (int64, error)) (int64, error) {
	seq, ok, err := found(s.write.GetNotificationCursor(ctx))
	if err != nil || ok {
		return seq, err
	}
	if seq, err = start(); err != nil {
		return 0, err
	}
	if err := s.write.StartNotificationCursor(ctx, seq); err != nil {
		return 0, err
	}
	return s.write.GetNotificationCursor(ctx)
}

// StoreFacts implements notification.WorkerStore.
func (s *Store) StoreFacts(ctx context.Context, after, upTo int64, facts []notification.Fact) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if n, err := q.MoveNotificationCursor(ctx, db.MoveNotificationCursorParams{After: after, Upto: upTo}); err != nil || n == 0 {
			return err
		}
		var batch notificationBatch
		var followed []notification.Fact
		var milestones db.ReachMilestonesParams
		reached := map[operator.ID]notification.Fact{}
		for _, f := range facts {
			switch {
			case f.Kind == notification.Milestone:
				milestones.UserIDs, milestones.Calls = append(milestones.UserIDs, string(f.To)), append(milestones.Calls, f.Count)
				reached[f.To] = f // the counts of one page are the same for all calls of a user
			case f.To != "":
				batch.add(f, f.To)
			case f.Audience == notification.Followers:
				followed = append(followed, f)
			default:
				if err := q.InsertFanout(ctx, fanoutParams(f)); err != nil {
					return err
				}
			}
		}
		if err := addFollowers(ctx, q, &batch, followed); err != nil {
			return err
		}
		if len(reached) > 0 {
			users, err := q.ReachMilestones(ctx, milestones)
			if err != nil {
				return err
			}
			for _, user := range users {
				batch.add(reached[user], user)
			}
		}
		return batch.insert(ctx, q)
	})
}

// addFollowers adds the followers of facts to batch. A fact with more than MaxAtOnce followers becomes a fan-out.
func addFollowers(ctx context.Context, q *db.Queries, batch *notificationBatch, facts []notification.Fact) error {
	if len(facts) == 0 {
		return nil
	}
	rows, err := q.ListAudience(ctx, audienceParams(notification.MaxAtOnce+1, facts...))
	if err != nil {
		return err
	}
	for len(rows) > 0 {
		f, n := facts[rows[0].Position-1], 1
		for n < len(rows) && rows[n].Position == rows[0].Position {
			n++
		}
		if n > notification.MaxAtOnce {
			if err := q.InsertFanout(ctx, fanoutParams(f)); err != nil {
				return err
			}
		} else {
			batch.addWanted(f, rows[:n])
		}
		rows = rows[n:]
	}
	return nil
}

// ListFanouts implements notification.WorkerStore.
func (s *Store) ListFanouts(ctx context.Context, limit int) ([]notification.Fanout, error) {
	rows, err := s.write.ListFanouts(ctx, int32(limit))
	return pg.Collect(rows, func(r db.ListFanoutsRow) notification.Fanout {
		return notification.Fanout{After: operator.ID(r.AfterUser), Fact: notification.Fact{
			Kind: r.Kind, Audience: r.Audience, Actor: operator.ID(pg.Value(r.Actor)), Handle: r.Handle, MarketID: r.MarketID,
			SignalID: pg.Value(r.SignalID), Reason: r.Reason, Count: 1, Seq: r.Seq, At: r.At.UTC(),
		}}
	}), err
}

// AdvanceFanout implements notification.WorkerStore.
func (s *Store) AdvanceFanout(ctx context.Context, f notification.Fanout, callers []operator.ID) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		var batch notificationBatch
		last, read := f.After, len(callers)
		switch f.Audience {
		case notification.Callers:
			for _, id := range callers {
				batch.add(f.Fact, id)
				last = id
			}
		case notification.Watchers:
			rows, err := q.ListWatchers(ctx, db.ListWatchersParams{MarketID: f.MarketID, After: f.After, Limit: notification.MaxAtOnce})
			if err != nil {
				return err
			}
			read = len(rows)
			for _, r := range rows {
				if last = r.UserID; !r.CreatedAt.After(f.At) {
					batch.add(f.Fact, r.UserID)
				}
			}
		case notification.Followers:
			p := audienceParams(notification.MaxAtOnce, f.Fact)
			p.After = []string{string(f.After)}
			rows, err := q.ListAudience(ctx, p)
			if err != nil {
				return err
			}
			if read = len(rows); read > 0 {
				last = rows[read-1].Follower
			}
			batch.addWanted(f.Fact, rows)
		}
		n, err := q.AdvanceFanout(ctx, db.AdvanceFanoutParams{
			Last: string(last), Seq: f.Seq, Kind: f.Kind, Audience: f.Audience, After: string(f.After),
		})
		if err != nil || n == 0 {
			return err
		}
		if read < notification.MaxAtOnce {
			if err := q.DeleteFanout(ctx, db.DeleteFanoutParams{Seq: f.Seq, Kind: f.Kind, Audience: f.Audience}); err != nil {
				return err
			}
		}
		return batch.insert(ctx, q)
	})
}

func fanoutParams(f notification.Fact) db.InsertFanoutParams {
	return db.InsertFanoutParams{
		Seq: f.Seq, Kind: f.Kind, Audience: f.Audience, Actor: pg.Null(string(f.Actor)), Handle: f.Handle, MarketID: f.MarketID,
		SignalID: pg.Null(f.SignalID), Reason: f.Reason, At: f.At,
	}
}

// audienceParams returns the parameters that list the first followers of each fact.
func audienceParams(most int32, facts ...notification.Fact) db.ListAudienceParams {
	p := db.ListAudienceParams{Most: most}
	for _, f := range facts {
		p.Actors, p.Kinds = append(p.Actors, string(f.Actor)), append(p.Kinds, string(f.Kind))
		p.At, p.After = append(p.At, f.At), append(p.After, uuid.Nil.String())
	}
	return p
}

// notificationBatch collects facts and their recipients.
type notificationBatch struct{ db.InsertNotificationsParams }

// add adds a fact and its recipients.
func (n *notificationBatch) add(f notification.Fact, to ...operator.ID) {
	if len(to) == 0 {
		return
	}
	n.Kinds, n.Subjects = append(n.Kinds, string(f.Kind)), append(n.Subjects, f.Subject())
	n.Actors, n.Handles = append(n.Actors, string(f.Actor)), append(n.Handles, string(f.Handle))
	n.MarketIDs, n.SignalIDs = append(n.MarketIDs, string(f.MarketID)), append(n.SignalIDs, f.SignalID)
	n.Statuses, n.Scores, n.Reasons = append(n.Statuses, f.Status), append(n.Scores, f.Score), append(n.Reasons, f.Reason)
	n.Counts, n.Seqs, n.At = append(n.Counts, f.Count), append(n.Seqs, f.Seq), append(n.At, f.At)
	for _, id := range to {
		n.IDs, n.UserIDs = append(n.IDs, uuid.Must(uuid.NewV7()).String()), append(n.UserIDs, string(id))
		n.Positions = append(n.Positions, int64(len(n.Kinds)))
	}
}

// addWanted adds a fact and the followers who are notified of it.
func (n *notificationBatch) addWanted(f notification.Fact, rows []db.ListAudienceRow) {
	var to []operator.ID
	for _, r := range rows {
		if r.Wanted {
			to = append(to, r.Follower)
		}
	}
	n.add(f, to...)
}

// insert stores the notifications.
func (n *notificationBatch) insert(ctx context.Context, q *db.Queries) error {
	if len(n.IDs) == 0 {
		return nil
	}
	n.Grouped, n.Pushed, n.Mailed = words(notification.Grouped), words(notification.Pushed), words(notification.Mailed)
	return q.InsertNotifications(ctx, n.InsertNotificationsParams)
}

// notify notifies users of facts of the hub, in the transaction of the facts.
func notify(ctx context.Context, q *db.Queries, facts ...notification.Fact) error {
	seq, _, err := found(q.GetNotificationCursor(ctx))
	if err != nil {
		return err
	}
	var batch notificationBatch
	for _, f := range facts {
		f.Seq = seq
		batch.add(f, f.To)
	}
	return batch.insert(ctx, q)
}

// StoreNotices implements notification.WorkerStore.
func (s *Store) StoreNotices(ctx context.Context, facts []notification.Fact) error {
	for batch := range slices.Chunk(facts, notification.MaxAtOnce) {
		if err := notify(ctx, s.write, batch...); err != nil {
			return err
		}
	}
	return nil
}

// NoticeCursor implements notification.WorkerStore.
func (s *Store) NoticeCursor(ctx context.Context) (int64, error) {
	return s.write.GetNoticeCursor(ctx)
}

// StoreLedgerNotices implements notification.WorkerStore.
func (s *Store) StoreLedgerNotices(ctx context.Context, after, upTo int64, facts []notification.Fact) error {
	return s.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		if n, err := q.MoveNoticeCursor(ctx, db.MoveNoticeCursorParams{After: after, Upto: upTo}); err != nil || n == 0 {
			return err
		}
		return notify(ctx, q, facts...)
	})
}

// ListClosingUsers implements notification.WorkerStore.
func (s *Store) ListClosingUsers(ctx context.Context, after operator.ID, limit int) ([]notification.Watcher, error) {
	rows, err := s.write.ListClosingUsers(ctx, db.ListClosingUsersParams{
		Kind: notification.MarketCloses, After: cmp.Or(after, operator.ID(uuid.Nil.String())), Limit: int32(limit),
	})
	return pg.Collect(rows, func(r db.ListClosingUsersRow) notification.Watcher {
		return notification.Watcher{User: r.UserID, Markets: r.Markets}
	}), err
}

// Notify implements notification.Notices.
func (c *conn) Notify(ctx context.Context, user operator.ID, kind notification.Kind, key, text string, at time.Time) error {
	return notify(ctx, c.write, accountFact(user, kind, key, text, at))
}

// accountFact returns a fact about the account of a user.
func accountFact(user operator.ID, kind notification.Kind, key, text string, at time.Time) notification.Fact {
	return notification.Fact{To: user, Kind: kind, Key: key, Reason: text, Count: 1, At: at}
}

// DeleteKind implements notification.Notices.
func (c *conn) DeleteKind(ctx context.Context, user operator.ID, kind notification.Kind) error {
	return c.write.DeleteNotificationsOfKind(ctx, db.DeleteNotificationsOfKindParams{UserID: user, Kind: kind})
}

// Withdraw implements notification.Notices.
func (c *conn) Withdraw(ctx context.Context, actor operator.ID, signalID string) error {
	return c.inTx(ctx, func(ctx context.Context, q *db.Queries) error {
		// The fan-outs are deleted first: a batch in progress ends before its notifications are deleted.
		err := q.DeleteFanoutsOf(ctx, db.DeleteFanoutsOfParams{Actor: string(actor), SignalID: pg.Null(signalID)})
		if err != nil {
			return err
		}
		err = q.DeleteUnreadByFollowers(ctx, db.DeleteUnreadByFollowersParams{
			Actor: string(actor), SignalID: pg.Null(signalID), Kinds: words(notification.OfForecasters),
		})
		if err != nil || signalID != "" {
			return err
		}
		return q.RemoveFollowerName(ctx, db.RemoveFollowerNameParams{Follower: string(actor)})
	})
}

// ListNotifications implements notification.Store.
func (s *Store) ListNotifications(ctx context.Context, user operator.ID, after notification.Place, limit int) ([]notification.Entry, error) {
	p := db.ListNotificationsParams{UserID: user, Limit: int32(limit)}
	if after.ID != "" {
		p.BeforeSeq, p.BeforeID = &after.Seq, &after.ID
	}
	rows, err := s.read.ListNotifications(ctx, p)
	return pg.Collect(rows, func(r db.ListNotificationsRow) notification.Entry {
		return notification.Entry{
			ID: r.ID, Kind: r.Kind, Actor: operator.ID(pg.Value(r.Actor)), Handle: r.Handle, MarketID: r.MarketID,
			SignalID: pg.Value(r.SignalID), Status: r.Status, Score: r.Score, Reason: r.Reason, Count: r.Count, Seq: r.Seq,
			CreatedAt: r.CreatedAt.UTC(), ReadAt: utc(r.ReadAt),
		}
	}), err
}

// CountUnread implements notification.Store.
func (s *Store) CountUnread(ctx context.Context, user operator.ID) (int64, error) {
	return s.read.CountUnread(ctx, db.CountUnreadParams{UserID: user, Most: notification.MaxUnread})
}

// MarkRead implements notification.Store.
func (s *Store) MarkRead(ctx context.Context, user operator.ID, id string, at time.Time) error {
	known, err := s.write.HasNotification(ctx, db.HasNotificationParams{UserID: user, ID: id})
	if err != nil {
		return err
	}
	if !known {
		return notification.ErrUnknown
	}
	return s.write.MarkNotificationsRead(ctx, db.MarkNotificationsReadParams{UserID: user, ID: id, Now: at})
}

// SwitchedOff implements notification.Store.
func (s *Store) SwitchedOff(ctx context.Context, user operator.ID) (map[notification.Kind]bool, error) {
	rows, err := s.read.ListSwitches(ctx, user)
	off, err := mapOf(rows, err, func(r db.ListSwitchesRow) (notification.Kind, bool) { return r.Kind, !r.Enabled })
	for _, kind := range notification.OffByDefault {
		if _, set := off[kind]; err == nil && !set {
			off[kind] = true
		}
	}
	return off, err
}

// SetSwitches implements notification.Store.
func (s *Store) SetSwitches(ctx context.Context, user operator.ID, to map[notification.Kind]bool, at time.Time) error {
	p := db.SetSwitchesParams{UserID: user, Now: at, OffByDefault: words(notification.OffByDefault)}
	for kind, on := range to {
		p.Kinds, p.Enabled = append(p.Kinds, string(kind)), append(p.Enabled, on)
	}
	return s.write.SetSwitches(ctx, p)
}

// SweepNotifications deletes notifications that are older than a time, at most sweptNotifications, and ended follows that were
// seen before it. It returns the number of notifications.
func (s *Store) SweepNotifications(ctx context.Context, before time.Time) (int64, error) {
	if err := s.write.DeleteOldSeenFollows(ctx, before); err != nil {
		return 0, err
	}
	return s.write.DeleteOldNotifications(ctx, db.DeleteOldNotificationsParams{Before: before, Most: sweptNotifications})
}

// SetPush implements notification.Subscriptions.
func (s *Store) SetPush(ctx context.Context, user operator.ID, session time.Time, subscription string) (bool, error) {
	return s.write.SetPush(ctx, db.SetPushParams{
		UserID: user, IssuedAt: session, Subscription: pg.Null(subscription), Most: notification.MaxSubscriptions,
	})
}

// ListPush implements notification.Outbox.
func (s *Store) ListPush(ctx context.Context, now, oldest time.Time, limit int) ([]notification.Message, error) {
	idle := now.Add(-caller.SessionIdle)
	if err := s.write.DeleteOldPushMessages(ctx, db.DeleteOldPushMessagesParams{Oldest: oldest, Idle: idle}); err != nil {
		return nil, err
	}
	rows, err := s.write.ListPushMessages(ctx, db.ListPushMessagesParams{Now: now, Idle: idle, Limit: int32(limit)})
	return pg.Collect(rows, func(r db.ListPushMessagesRow) notification.Message {
		return notification.Message{
			User: r.UserID, Session: r.IssuedAt, Subscription: pg.Value(r.Push), Attempts: int(r.Attempts),
			Entry: notification.Entry{ID: r.ID, Kind: r.Kind, MarketID: r.MarketID, SignalID: pg.Value(r.SignalID), Status: r.Status},
		}
	}), err
}

// DeletePush implements notification.Outbox.
func (s *Store) DeletePush(ctx context.Context, m notification.Message) error {
	return s.write.DeletePushMessage(ctx, db.DeletePushMessageParams{UserID: m.User, IssuedAt: m.Session, ID: m.Entry.ID})
}

// DelayPush implements notification.Outbox.
func (s *Store) DelayPush(ctx context.Context, m notification.Message, due time.Time) error {
	return s.write.DelayPushMessage(ctx, db.DelayPushMessageParams{UserID: m.User, IssuedAt: m.Session, ID: m.Entry.ID, Due: due})
}

// EndPush implements notification.Outbox. The next ListPush deletes the messages of the session.
func (s *Store) EndPush(ctx context.Context, m notification.Message) error {
	return s.write.EndPush(ctx, db.EndPushParams{UserID: m.User, IssuedAt: m.Session, Subscription: m.Subscription})
}
