package email

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	marketv1 "github.com/signalcast/signalcast/proto/market/v1"
	"github.com/signalcast/signalcast/services/hub/internal/notification"
	"github.com/signalcast/signalcast/services/hub/internal/operator"
)

// RoundEvery is the time between two rounds of a Worker.
const RoundEvery = time.Second

const (
	maxAtOnce    = 50 // letters in one round
	maxParallel  = 4  // letters that are sent at the same time
	maxDigests   = 500
	maxEntries   = 50 // notifications in one digest
	maxAttempts  = 8
	retryAfter   = time.Minute // delay after the first failed attempt; doubles with each attempt
	repeatAfter  = 5 * time.Minute
	messageLife  = 24 * time.Hour // time for which a letter waits
	digestMargin = time.Minute    // time after the end of a period in which its last notifications are stored
)

// ErrBounced is the error of a recipient that the mail server refused permanently.
var ErrBounced = errors.New("the mail server refuses the recipient")

// Kind is the kind of a letter.
type Kind string

// Kinds of letters.
const (
	Confirmation Kind = "confirmation" // has the link that confirms the address
	Notice       Kind = "notice"       // a notification about the account
	DigestLetter Kind = "digest"       // the notifications of a period
	Replaced     Kind = "replaced"     // the last one to a confirmed address that was replaced
)

// Message is a letter that waits.
type Message struct {
	ID          string
	Kind        Kind
	User        operator.ID
	Sealed      string             // encrypted address
	Entry       notification.Entry // Kind and Reason, of a notice
	From, Until time.Time          // period of a digest
	Attempts    int
}

// Outbox has the letters that wait. Error of all methods: db_unavailable.
type Outbox interface {
	// QueueDigests ends the period of the digests of up to limit users at a time, and returns their number. A digest waits for those
	// with notifications of the kinds.
	QueueDigests(ctx context.Context, d Digest, kinds []notification.Kind, until, now time.Time, limit int) (int, error)
	// ListEmail returns letters that are due, the oldest first. It deletes those that were created before oldest, and the addresses
	// that waited too long to replace another one.
	ListEmail(ctx context.Context, now, oldest time.Time, limit int) ([]Message, error)
	// ListDigest returns the notifications of a digest, the newest first.
	ListDigest(ctx context.Context, m Message, kinds []notification.Kind, limit int) ([]notification.Entry, error)
	// ReserveEmail counts an attempt. It returns false if another process has counted it. The letter is due again at a time.
	ReserveEmail(ctx context.Context, m Message, due time.Time) (bool, error)
	// SetEmailToken stores the hash of the token of a confirmation. It returns false if the address was replaced or confirmed.
	SetEmailToken(ctx context.Context, m Message, hash []byte, until time.Time) (bool, error)
	// DelayEmail lets a letter be due again at a time.
	DelayEmail(ctx context.Context, m Message, due time.Time) error
	// DeleteEmailMessage deletes a letter. If it was sent, the refusals of its address no longer count.
	DeleteEmailMessage(ctx context.Context, m Message, sent bool) error
	// BounceEmail deletes a letter whose address was refused. The refusal number limit deletes the address, and the first one an
	// address that waits to replace it.
	BounceEmail(ctx context.Context, m Message, limit int, now time.Time) error
}

// Letter is a letter to one recipient.
type Letter struct {
	ID            string // unique; mail programs detect a repeated letter by it
	To            string
	Subject, Text string
	Unsubscribe   string // URL for one-click unsubscribe (RFC 8058); empty: none
}

// Sender sends letters. Error: ErrBounced. No error contains the address of the recipient.
type Sender interface {
	Deliver(ctx context.Context, l Letter) error
}

// Line is the text of a notification in a letter.
type Line struct {
	Label string
	Text  string
	Path  string // path of its page
}

// Worker sends the letters that wait. Only one process at a time should run it.
//
// A crash can repeat a confirmation or a message about the account: it stays in the outbox until the mail server has accepted it.
// The id of a repeated message is that of its notification. A digest is reserved before it is sent, so a crash can lose it but
// never repeat it.
type Worker struct {
	*Service
	Outbox  Outbox
	Sender  Sender
	Markets marketv1.MarketReadServiceClient
	// Describe returns the text of a notification. title is the title of its market.
	Describe func(e notification.Entry, title string) Line
	HubURL   string
	Log      *slog.Logger
}

// Round lets digests wait whose period has ended, and sends letters that are due. Errors: db_unavailable, those of the ledger.
func (w *Worker) Round(ctx context.Context) error {
	now := w.Now()
	for _, d := range []Digest{Daily, Weekly} {
		if _, err := w.Outbox.QueueDigests(ctx, d, digested, d.lastEnd(now.Add(-digestMargin)), now, maxDigests); err != nil {
			return err
		}
	}
	list, err := w.Outbox.ListEmail(ctx, now, now.Add(-messageLife), maxAtOnce)
	if err != nil {
		return err
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxParallel)
	for _, m := range list {
		g.Go(func() error { return w.deliver(ctx, m) })
	}
	return g.Wait()
}

// deliver sends one letter and stores the result.
func (w *Worker) deliver(ctx context.Context, m Message) error {
	again := w.Now().Add(repeatAfter)
	if m.Kind == DigestLetter {
		again = w.Now().Add(2 * messageLife) // never
	}
	if ok, err := w.Outbox.ReserveEmail(ctx, m, again); err != nil || !ok {
		return err
	}
	l, err := w.write(ctx, m)
	switch {
	case err != nil:
	case l.Text == "": // nothing to send any more
		return w.Outbox.DeleteEmailMessage(ctx, m, false)
	case l.To == "": // the secret that encrypted the address was removed
		err = ErrBounced
	default:
		err = w.Sender.Deliver(ctx, l)
	}
	ctx = context.WithoutCancel(ctx) // a stop after the answer must not repeat the letter
	switch {
	case err == nil:
		return w.Outbox.DeleteEmailMessage(ctx, m, true)
	case errors.Is(err, ErrBounced):
		return w.Outbox.BounceEmail(ctx, m, MaxBounces, w.Now())
	case m.Attempts+1 >= maxAttempts:
		w.Log.WarnContext(ctx, "letter dropped", "kind", string(m.Kind), "attempts", m.Attempts+1, "error", err)
		return w.Outbox.DeleteEmailMessage(ctx, m, false)
	}
	if m.Attempts == 0 {
		w.Log.WarnContext(ctx, "letter delayed", "kind", string(m.Kind), "error", err)
	}
	return w.Outbox.DelayEmail(ctx, m, w.Now().Add(retryAfter<<m.Attempts))
}

// write returns the letter of a message. Its text is empty if there is nothing to send.
func (w *Worker) write(ctx context.Context, m Message) (Letter, error) {
	l := Letter{ID: string(m.Kind) + "-" + m.ID, To: w.Address(m.User, m.Sealed)}
	switch m.Kind {
	case Confirmation:
		return w.writeConfirmation(ctx, m, l)
	case DigestLetter:
		return w.writeDigest(ctx, m, l)
	case Replaced:
		l.Subject = "Signalcast: E-mail address changed"
		l.Text = "The e-mail address of your account was changed. This is the last letter to this address.\n\n" +
			"If this was not you, sign out all devices, revoke your keys, and enter your address again:\n" + w.HubURL + "/settings\n"
		return l, nil
	}
	about := w.Describe(m.Entry, "")
	l.Subject = "Signalcast: " + about.Label
	l.Text = about.Text + "\n" + w.HubURL + about.Path + "\n\n" +
		"This is a message about your account. If this was not you, sign out all devices and revoke your keys:\n" +
		w.HubURL + "/settings\n"
	return l, nil
}

// writeConfirmation returns a letter with a new token. The token of an earlier attempt does not work any more.
func (w *Worker) writeConfirmation(ctx context.Context, m Message, l Letter) (Letter, error) {
	token, hash := newToken()
	ok, err := w.Outbox.SetEmailToken(ctx, m, hash, w.Now().Add(TokenLife))
	if err != nil || !ok {
		return l, err
	}
	l.Subject = "Confirm your e-mail address"
	l.Text = "A forecaster on Signalcast entered this address for messages.\n\nOpen this page within 24 hours to confirm it:\n" +
		w.HubURL + "/email/confirm?t=" + token + "\n\nIf this was not you, ignore this letter. The address then gets no messages.\n"
	return l, nil
}

// writeDigest returns the letter of a digest.
func (w *Worker) writeDigest(ctx context.Context, m Message, l Letter) (Letter, error) {
	list, err := w.Outbox.ListDigest(ctx, m, digested, maxEntries)
	if err != nil || len(list) == 0 {
		return l, err
	}
	q := &marketv1.ListMarketsRequest{}
	for _, e := range list {
		if e.MarketID != "" {
			q.Ids = append(q.Ids, string(e.MarketID))
		}
	}
	titles := map[string]string{}
	if len(q.GetIds()) > 0 {
		markets, err := w.Markets.ListMarkets(ctx, q)
		if err != nil {
			return l, err
		}
		for _, one := range markets.GetMarkets() {
			titles[one.GetId()] = one.GetTitle()
		}
	}
	const day = "2 January, 15:04 UTC"
	l.Unsubscribe = w.HubURL + "/unsubscribe?t=" + url.QueryEscape(w.unsubscribeToken(m.User))
	l.Subject = "Signalcast digest, " + m.Until.UTC().Format("2 January 2006")
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "From %s to %s:\n", m.From.UTC().Format(day), m.Until.UTC().Format(day))
	for _, e := range list {
		about := w.Describe(e, titles[string(e.MarketID)])
		_, _ = fmt.Fprintf(&text, "\n%s: %s\n%s\n", about.Label, about.Text, w.HubURL+about.Path)
	}
	if len(list) == maxEntries {
		text.WriteString("\nThere may be more.\n")
	}
	_, _ = fmt.Fprintf(&text, "\nAll notifications: %[1]s/notifications\nSettings: %[1]s/settings\nNo more digests: %[2]s\n",
		w.HubURL, l.Unsubscribe)
	l.Text = text.String()
	return l, nil
}
