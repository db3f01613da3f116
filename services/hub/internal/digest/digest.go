package digest

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrUnsent is the error of a digest that could not be delivered. The caller may send the digest of this day again.
var ErrUnsent = apperr.New(apperr.Unavailable, "digest_unavailable", "sending the digest failed; retry later")

// Window is a day in UTC: from From until before To.
type Window struct {
	Date     string // YYYY-MM-DD
	From, To time.Time
}

// Yesterday returns the day before now in UTC.
func Yesterday(now time.Time) Window {
	y, m, d := now.UTC().Date()
	to := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	from := to.AddDate(0, 0, -1)
	return Window{Date: from.Format(time.DateOnly), From: from, To: to}
}

// WssAo returns the number of weekly scored calls per active operator, rounded to two decimals. It returns 0 if no operator is
// active.
func WssAo(signals, operators int64) float64 {
	if operators == 0 {
		return 0
	}
	return math.Round(100*float64(signals)/float64(operators)) / 100
}

// Letter is the mail of a digest: the day, the subject and the text.
type Letter struct {
	Date    string
	Subject string
	Text    string
}

// Sender delivers a digest and returns the number of recipients.
type Sender interface {
	Send(ctx context.Context, l Letter) (int, error)
}

// Store records the days whose digest has been sent. Error of all methods: db_unavailable.
type Store interface {
	// ReserveDigest reserves a day. It returns false if the day was sent or is being sent. A reservation expires if
	// neither StartDigest nor FreeDigest follows.
	ReserveDigest(ctx context.Context, date string, now time.Time) (bool, error)
	// StartDigest records that the digest of a day is sent now. It returns false if another process has recorded it or if the
	// day is not reserved. The record does not expire.
	StartDigest(ctx context.Context, date string, now time.Time) (bool, error)
	// EndDigest records the number of recipients of a started digest.
	EndDigest(ctx context.Context, date string, recipients int) error
	// FreeDigest deletes the reservation of a day, or with started the record of StartDigest, so that the day can be sent again.
	FreeDigest(ctx context.Context, date string, started bool) error
}

// Service sends the digest of each day and records the days that have been sent.
type Service struct {
	sender Sender
	store  Store
	now    func() time.Time
}

// NewService returns a Service that delivers digests with sender and records the sent days in store.
func NewService(sender Sender, store Store, now func() time.Time) *Service {
	return &Service{sender: sender, store: store, now: now}
}

// endTime is the time limit of the store write after sending. The write also happens if the client has disconnected.
const endTime = 2 * time.Second

// Once sends the digest of a day at most once. If the digest has already been sent or is being sent, Once sends nothing:
// already is true and recipients is 0. The function write creates the digest. Once calls it only if the digest must be sent.
// If the sender reports an error, the day can be sent again. If the process ends while it sends, the day is not sent again.
// Errors: ErrUnsent, and the errors of write and of the store.
func (s *Service) Once(ctx context.Context, date string, write func(context.Context) (Letter, error)) (recipients int, already bool, err error) {
	taken, err := s.store.ReserveDigest(ctx, date, s.now())
	if err != nil || !taken {
		return 0, err == nil, err
	}
	letter, err := write(ctx)
	started := false
	if err == nil {
		if started, err = s.store.StartDigest(ctx, date, s.now()); err == nil && !started {
			return 0, true, nil // writing took longer than the reservation, and another process sends
		}
	}
	if err == nil {
		if recipients, err = s.sender.Send(ctx, letter); err != nil {
			err = ErrUnsent.Wrap(err)
		}
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err != nil {
		// If this fails, a reservation expires, and a started digest stays unsent.
		_ = s.store.FreeDigest(after, date, started)
		return 0, false, err
	}
	_ = s.store.EndDigest(after, date, recipients) // the digest is sent; only the stored number of recipients is missing then
	return recipients, false, nil
}
