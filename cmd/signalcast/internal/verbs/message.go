package verbs

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/signalcast/signalcast/cmd/signalcast/internal/ask"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/settings"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/show"
	"github.com/signalcast/signalcast/cmd/signalcast/internal/signer"
	"github.com/signalcast/signalcast/sdk/go/client"
)

// Message are `signalcast message …`.
type Message struct {
	Sign   messageSign   `cmd:"" help:"Sign a payload. Nothing is sent."`
	Verify messageVerify `cmd:"" help:"Ask the hub whether it would take a message. Nothing is kept."`
	Submit messageSubmit `cmd:"" help:"Submit a message. The same bytes again have no second effect."`
}

// mostMessage is what the protocol takes, in bytes.
const mostMessage = 32 << 10

// readFile reads a file that is no secret, or the standard input.
func readFile(name string, s *Streams) ([]byte, error) {
	var from io.Reader = s.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, mostMessage+1))
	if err == nil && len(raw) > mostMessage {
		err = errors.New(name + ": a message has at most 32 KiB")
	}
	return raw, err
}

type messageSign struct {
	Type   string `arg:"" help:"Type of the message, as signal.create." enum:"profile.update,station.create,station.update,broadcast.create,broadcast.goLive,signal.create,prediction.create,market.create,resolution.create"`
	File   string `arg:"" optional:"" help:"File with the payload; without it the standard input." default:"-"`
	Signer string `required:"" help:"File of the key: signalcast signer new." type:"path" placeholder:"FILE"`
}

// Run signs.
func (m *messageSign) Run(s *Streams) error {
	key, err := signer.Open(m.Signer)
	if err != nil {
		return err
	}
	payload, err := readFile(m.File, s)
	if err != nil {
		return err
	}
	message, err := key.Message(m.Type, payload, time.Now())
	if err != nil {
		return err
	}
	return show.Line(s.Out, message)
}

type messageVerify struct {
	settings.Flags
	File string `arg:"" optional:"" help:"File with the message; without it the standard input." default:"-"`
}

// Run asks. A message that would not be taken is a refusal.
func (m *messageVerify) Run(ctx context.Context, s *Streams) error {
	raw, err := readFile(m.File, s)
	if err != nil {
		return err
	}
	at, err := reading(&m.Flags, s)
	if err != nil {
		return err
	}
	a, err := at.VerifyMessageWithBody(ctx, "application/json", bytes.NewReader(raw))
	var v client.MessageVerdict
	err = finish(at, a, err, func(got *client.MessageVerdict) error {
		word := "no"
		if got.Valid {
			word = "yes"
		}
		return show.Pairs(at.out, "Valid", word, "Message", got.ID, "Because", strings.Join(got.Reasons, " "))
	}, &v)
	if err == nil && !v.Valid {
		return &ask.Refused{Status: http.StatusOK, Code: "not_valid", Message: strings.Join(v.Reasons, " "), Do: signedAdvice(v.Reasons...)}
	}
	return adviseSigned(ask.Harmless(err))
}

type messageSubmit struct {
	settings.Flags
	File string `arg:"" optional:"" help:"File with the message; without it the standard input." default:"-"`
}

// Run submits.
func (m *messageSubmit) Run(ctx context.Context, s *Streams) error {
	raw, err := readFile(m.File, s)
	if err != nil {
		return err
	}
	at, err := reading(&m.Flags, s) // the signature is the credential
	if err != nil {
		return err
	}
	return ask.MayHave(at.submit(ctx, raw), "Submit the same file again: the same bytes have one effect")
}

// submit sends a message and shows what it did.
func (s *session) submit(ctx context.Context, message []byte) error {
	a, err := s.SubmitMessageWithBody(ctx, "application/json", bytes.NewReader(message))
	return adviseSigned(finish(s, a, err, func(v *client.SubmittedMessage) error {
		pairs := []string{"Message", v.ID, "Address", v.URI}
		if v.Result != nil {
			for _, name := range []string{"signalId", "marketId", "stationId", "broadcastId", "showId"} {
				if id, ok := (*v.Result)[name].(string); ok {
					pairs = append(pairs, name, id)
				}
			}
		}
		return show.Pairs(s.out, pairs...)
	}))
}

func adviseSigned(err error) error {
	err = ask.Advise(err, map[string]string{
		"insufficient_scope": "The signer has not the scope of this type: register one that has, with `signalcast signer new` and `register --scope`",
	})
	if r := (*ask.Refused)(nil); errors.As(err, &r) && r.Reason != "" {
		if do := signedAdvice(r.Reason); do != "" {
			r.Do, r.Message = do, strings.TrimSpace(r.Reason+" "+r.Message)
		}
	}
	return err
}

// signedAdvice says what to do about a message that is not taken.
func signedAdvice(reasons ...string) string {
	for _, reason := range reasons {
		switch reason {
		case "timestamp_out_of_window":
			return "A message is good for five minutes by the clocks of both: sign it again"
		case "unknown_signer":
			return "The key is not registered here: signalcast signer register FILE"
		case "signer_revoked", "signer_expired":
			return "The key may not sign any more: make a new one with `signalcast signer new`"
		case "bad_signature":
			return "It was changed after it was signed, or signed for another hub: sign it again, with a key whose issuer is this hub"
		case "payload":
			return "Look at the schema of the payload: /api/protocol/v1/schemas/TYPE of the hub"
		}
	}
	return ""
}
