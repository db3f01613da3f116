package verbs

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/pkg/dbtime"
	"github.com/signalcast/signalcast/pkg/protocol"
	"github.com/signalcast/signalcast/sdk/go/feed"
)

// webhookListen is the command `signalcast webhook listen`. The service delivers webhooks to public hosts only. This command
// reads the feed instead, and sends each numbered event to an address that only this machine reaches, in the form of a delivery
// (docs/protocol/webhooks.md).
type webhookListen struct {
	settings.Flags
	Channels  []string `arg:"" optional:"" help:"Channels with numbered events, such as me or market:701122. Default: signals."`
	ForwardTo string   `required:"" help:"Address that receives the deliveries, such as http://127.0.0.1:3000/signalcast." placeholder:"URL"`
	Secret    string   `required:"" help:"File with the secret that signs the deliveries, mode 0600. A file that does not exist is created with a new secret." type:"path" placeholder:"FILE"`
	Type      []string `help:"Forward only events of this type, such as signal.created. May be repeated. Default: all types."`
	Count     *int     `help:"End after this many accepted deliveries." bounds:"of at least 1" placeholder:"N"`
}

// forwarder sends deliveries to one address.
type forwarder struct {
	to, secret, hook string
	client           http.Client
	wait             func(context.Context, time.Duration) error
	report           func(delivered) error
}

// delivered is one line of the output of webhook listen: the result of one attempt.
type delivered struct {
	ID      string    `json:"id"` // id of the delivery
	Attempt int       `json:"attempt"`
	Seq     int64     `json:"seq,omitempty"` // number of the event
	Type    string    `json:"type"`
	Status  *int      `json:"status"` // null without an answer
	Error   string    `json:"error,omitempty"`
	At      time.Time `json:"at"`
}

// deliveryTimeout is the time limit of one attempt, as for deliveries of the service.
const deliveryTimeout = 10 * time.Second

// retryPauses contains the pauses after failed attempts. The last one repeats. The service continues with longer pauses.
var retryPauses = []time.Duration{5 * time.Second, 15 * time.Second, time.Minute}

// Run forwards the events until Ctrl-C, which is not an error, or until Count deliveries were accepted.
func (w *webhookListen) Run(ctx context.Context, s *Streams) error {
	if err := s.Only("webhook listen writes lines of text or JSON", "json", "table"); err != nil {
		return err
	}
	if err := checkCount(w.Count); err != nil {
		return err
	}
	to, err := settings.Service("--forward-to", w.ForwardTo)
	if err != nil {
		return err
	}
	if len(w.Channels) == 0 {
		w.Channels = []string{"signals"}
	}
	o, err := feedOptions(&w.Flags, s, w.Channels)
	if err != nil {
		return err
	}
	secret, err := webhookSecret(w.Secret)
	if err != nil {
		return err
	}
	f := forwarder{
		to: to, secret: secret, hook: uuid.NewString(), wait: s.Wait,
		report: func(d delivered) error { return d.write(s) },
		client: http.Client{Timeout: deliveryTimeout, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}},
	}
	if f.wait == nil {
		f.wait = dbtime.Sleep
	}
	c, err := feed.Open(ctx, o)
	if err != nil {
		return err
	}
	defer c.Close()
	s.progress("forwarding " + strings.Join(w.Channels, " ") + " to " + to + "; the secret is in " + w.Secret)
	return feedError(w.forward(ctx, c, &f))
}

// forward sends the messages of the feed to f until ctx ends, Count deliveries were accepted, or an error occurs.
func (w *webhookListen) forward(ctx context.Context, c *feed.Client, f *forwarder) error {
	accepted := 0
	for m, err := range c.Messages(ctx) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		frame, d, err := w.frame(m)
		if err != nil {
			return err
		}
		if frame == nil {
			continue
		}
		err = f.deliver(ctx, frame, d)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
		if accepted++; w.Count != nil && accepted == *w.Count {
			return nil
		}
	}
	return nil
}

// frame returns the frame of a message in the form of the websocket, and its number and type. The frame is nil for a message that
// webhooks do not deliver.
func (w *webhookListen) frame(m feed.Message) (frame []byte, d delivered, err error) {
	switch m := m.(type) {
	case *feed.Event:
		if !m.Numbered() || len(w.Type) > 0 && !slices.Contains(w.Type, m.Type) {
			return nil, d, nil
		}
		var prev *int64
		if m.Prev > 0 {
			prev = &m.Prev
		}
		frame, err = json.Marshal(struct {
			Op      string          `json:"op"`
			Channel string          `json:"channel"`
			Seq     int64           `json:"seq"`
			Prev    *int64          `json:"prev"`
			Type    string          `json:"type"`
			At      string          `json:"at"`
			Data    json.RawMessage `json:"data"`
		}{"event", m.Channel, m.Seq, prev, m.Type, protocol.Stamp(m.At), m.Data})
		return frame, delivered{Seq: m.Seq, Type: m.Type}, err
	case *feed.Gap:
		frame, err = json.Marshal(struct {
			Op      string `json:"op"`
			Channel string `json:"channel"`
			From    int64  `json:"from"`
			Oldest  int64  `json:"oldest"`
		}{"gap", m.Channel, m.From, m.Oldest})
		return frame, delivered{Type: "gap"}, err
	case *feed.ServerError:
		if m.Code == "unknown_channel" {
			return nil, d, fmt.Errorf("unknown channel %s; the channels are %s", m.Channel, channelForms)
		}
	}
	return nil, d, nil
}

// deliver sends a delivery with one frame until the address accepts it with a 2xx status. It returns an error only if ctx ends or
// the output cannot be written.
func (f *forwarder) deliver(ctx context.Context, frame []byte, d delivered) error {
	id, err := uuid.NewV7()
	if err != nil {
		return err
	}
	d.ID = id.String()
	for d.Attempt = 1; ; d.Attempt++ {
		body := fmt.Appendf(nil, `{"webhookId":"%s","deliveryId":"%s","attempt":%d,"events":[%s]}`, f.hook, d.ID, d.Attempt, frame)
		d.At, d.Status, d.Error = time.Now().UTC(), nil, ""
		status, err := f.send(ctx, d.ID, body, d.At)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		switch {
		case err != nil:
			d.Error = ask.Reason(err)
		case status/100 == 2:
			d.Status = &status
			return f.report(d)
		default:
			d.Status, d.Error = &status, "status "+strconv.Itoa(status)
		}
		if err := f.report(d); err != nil {
			return err
		}
		if err := f.wait(ctx, retryPauses[min(d.Attempt, len(retryPauses))-1]); err != nil {
			return err
		}
	}
}

// send sends one attempt and returns the status of the answer.
func (f *forwarder) send(ctx context.Context, id string, body []byte, now time.Time) (int, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, f.to, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	stamp := strconv.FormatInt(now.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(f.secret))
	_, _ = io.WriteString(mac, stamp+".") // hash.Hash returns no error
	_, _ = mac.Write(body)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "signalcast-webhook")
	r.Header.Set("Signalcast-Delivery", id)
	r.Header.Set("Signalcast-Signature", "t="+stamp+",v1="+hex.EncodeToString(mac.Sum(nil)))
	a, err := f.client.Do(r)
	if err != nil {
		return 0, err
	}
	return a.StatusCode, a.Body.Close()
}

// write prints one line of the output, as JSON or as text.
func (d delivered) write(s *Streams) error {
	if s.AsJSON() {
		raw, err := json.Marshal(d)
		return errors.Join(err, show.Line(s.Out, raw))
	}
	result := "delivered"
	if d.Error != "" {
		result = "failed: " + d.Error
	}
	seq := ""
	if d.Seq > 0 {
		seq = strconv.FormatInt(d.Seq, 10)
	}
	_, err := fmt.Fprintf(s.Out, "%s  %8s  %-18s  attempt %d  %s\n", second(&d.At), seq, show.Clean(d.Type), d.Attempt, show.Clean(result))
	return err
}

var webhookSecretForm = regexp.MustCompile(`^whsec_[A-Za-z0-9_-]{43}$`)

// webhookSecret returns the secret in a file. If the file does not exist, it creates the file with a new secret.
func webhookSecret(path string) (string, error) {
	raw, err := settings.Private(path)
	if err == nil {
		secret := strings.TrimSpace(string(raw))
		if !webhookSecretForm.MatchString(secret) {
			return "", errors.New("--secret: the file must contain one secret of a webhook, which begins with whsec_")
		}
		return secret, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("--secret: %w", err)
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	secret := "whsec_" + base64.RawURLEncoding.EncodeToString(random[:])
	file, err := settings.CreateFile(path)
	if err != nil {
		return "", err
	}
	return secret, file.Store(secret + "\n")
}
