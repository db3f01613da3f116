package digest

import (
	"context"
	"math"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// ErrUnsent is the answer when the letter could not be handed over; the day can be
// tried again.
var ErrUnsent = apperr.New(apperr.Unavailable, "digest_unavailable", "the digest could not be sent")

// Window is one day, UTC.
type Window struct {
	Date     string // YYYY-MM-DD
	From, To time.Time
}

// Yesterday is the day before now.
func Yesterday(now time.Time) Window {
	y, m, d := now.UTC().Date()
	to := time.Date(y, m, d, 0, 0, 0, 0, time.UTC)
	from := to.AddDate(0, 0, -1)
	return Window{Date: from.Format(time.DateOnly), From: from, To: to}
}

// WssAo is weekly scored signals for each active operator, to two decimals; zero
// when nobody was active.
func WssAo(signals, operators int64) float64 {
	if operators == 0 {
		return 0
	}
	return math.Round(100*float64(signals)/float64(operators)) / 100
}

// Letter is a digest ready to be sent.
type Letter struct {
	Date    string
	Subject string
	Text    string
}

// Sender hands a letter over and tells to how many.
type Sender interface {
	Send(ctx context.Context, l Letter) (int, error)
}

// Store stores which days were sent. Error of all methods: db_unavailable.
type Store interface {
	// TakeDigest reserves a day. It returns false if the day was sent or is being sent. A reservation that was not ended
	// expires.
	TakeDigest(ctx context.Context, date string, now time.Time) (bool, error)
	// EndDigest stores that a reserved day was sent.
	EndDigest(ctx context.Context, date string, now time.Time, recipients int) error
	// FreeDigest deletes the reservation of a day.
	FreeDigest(ctx context.Context, date string) error
}

// Service sends.
type Service struct {
	sender Sender
	store  Store
	now    func() time.Time
}

// NewService builds a Service.
func NewService(sender Sender, store Store, now func() time.Time) *Service {
	return &Service{sender: sender, store: store, now: now}
}

// endTime bounds the note behind a letter, which is written even when the caller
// has left.
const endTime = 2 * time.Second

// Once sends the letter of a day unless that was done before; write makes it only
// when it is wanted. recipients is zero and already true when there was nothing to
// do. Errors: ErrUnsent, those of write and of the port.
func (s *Service) Once(ctx context.Context, date string, write func(context.Context) (Letter, error)) (recipients int, already bool, err error) {
	taken, err := s.store.TakeDigest(ctx, date, s.now())
	if err != nil || !taken {
		return 0, err == nil, err
	}
	letter, err := write(ctx)
	if err == nil {
		if recipients, err = s.sender.Send(ctx, letter); err != nil {
			err = ErrUnsent.Wrap(err)
		}
	}
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTime)
	defer cancel()
	if err != nil {
		// A day that cannot be given back comes free by itself.
		_ = s.store.FreeDigest(after, date)
		return 0, false, err
	}
	return recipients, false, s.store.EndDigest(after, date, s.now(), recipients)
}
