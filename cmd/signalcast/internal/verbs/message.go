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

// Message groups the commands of `signalcast message`, which sign, verify and submit messages.
type Message struct {
	Sign   messageSign   `cmd:"" help:"Sign a payload and print the message. Sends nothing."`
	Verify messageVerify `cmd:"" help:"Check a message at the hub. The hub stores nothing."`
	Submit messageSubmit `cmd:"" help:"Submit a message. A repetition of the same bytes has no further effect."`
}

// maxMessage is the maximum size of a message in bytes (docs/protocol/errors.md, payload_too_large).
const maxMessage = 32 << 10

// readFile reads a file that contains no secret. It returns an error if the file is empty or has more than maxMessage bytes. The
// name "-" means the standard input.
func readFile(name string, s *Streams) ([]byte, error) {
	var from io.Reader = s.In
	if name == "-" {
		name = "the standard input"
	} else {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, maxMessage+1))
	if err == nil && len(raw) > maxMessage {
		err = errors.New(name + ": a message must have at most 32 KiB")
	}
	if err == nil && len(bytes.TrimSpace(raw)) == 0 {
		err = errors.New(name + " is empty; it must contain one JSON object")
	}
	return raw, err
}

type messageSign struct {
	Type   string `arg:"" help:"Type of the message, such as signal.create." enum:"profile.update,station.create,station.update,broadcast.create,broadcast.goLive,signal.create,prediction.create,market.create,resolution.create"`
	File   string `arg:"" optional:"" help:"File with the payload. Default: the standard input." default:"-"`
	Signer string `required:"" help:"File of the signing key, from signalcast signer new." type:"path" placeholder:"FILE"`
}

// Run signs the payload and prints the message.
func (m *messageSign) Run(s *Streams) error {
	if err := s.Only("message sign writes one line of JSON", "json"); err != nil {
		return err
	}
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
	File string `arg:"" optional:"" help:"File with the message. Default: the standard input." default:"-"`
}

// Run sends the message to the hub, which verifies the message and stores nothing. It returns a Refused for an invalid
// message.
func (m *messageVerify) Run(ctx context.Context, s *Streams) error {
	raw, err := readFile(m.File, s)
	if err != nil {
		return err
	}
	at, err := openPublic(&m.Flags, s)
	if err != nil {
		return err
	}
	a, err := at.VerifyMessageWithBody(ctx, "application/json", bytes.NewReader(raw))
	var v client.MessageVerdict
	err = showResponse(at, a, err, func(got *client.MessageVerdict) error {
		word := "no"
		if got.Valid {
			word = "yes"
		}
		return show.Pairs(at.out, "Valid", word, "Message", got.ID, "Reasons", strings.Join(got.Reasons, " "))
	}, &v)
	if err == nil && !v.Valid {
		return &ask.Refused{
			Status: http.StatusOK, Code: "not_valid", Message: strings.Join(v.Reasons, " "), Do: messageAdvice(v.Reasons...),
		}
	}
	return adviseMessage(ask.AsRead(err))
}

type messageSubmit struct {
	settings.Flags
	File string `arg:"" optional:"" help:"File with the message. Default: the standard input." default:"-"`
}

// Run submits the message to the hub.
func (m *messageSubmit) Run(ctx context.Context, s *Streams) error {
	raw, err := readFile(m.File, s)
	if err != nil {
		return err
	}
	at, err := openPublic(&m.Flags, s) // without a key: the signature is the credential
	if err != nil {
		return err
	}
	return ask.AdviseUnknown(at.submit(ctx, raw), "Submit the same file again: the same bytes have one effect")
}

// submit submits a message and shows the ids of the objects that it created.
func (s *session) submit(ctx context.Context, message []byte) error {
	a, err := s.SubmitMessageWithBody(ctx, "application/json", bytes.NewReader(message))
	return adviseMessage(showResponse(s, a, err, func(v *client.SubmittedMessage) error {
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

// adviseMessage adds advice for people to the refusal of a message.
func adviseMessage(err error) error {
	err = ask.Advise(err, map[string]ask.Advice{"insufficient_scope": {
		Why: "The signing key lacks the scope of this type", Do: "Register a key with `signalcast signer new` and `register --scope`",
	}})
	if r := (*ask.Refused)(nil); errors.As(err, &r) && r.Reason != "" {
		if do := messageAdvice(r.Reason); do != "" {
			r.Do, r.Message = do, strings.TrimSpace(r.Reason+" "+r.Message)
		}
	}
	return err
}

// messageAdvice returns the advice for the first known reason of a refused message, or "" if no reason is known.
func messageAdvice(reasons ...string) string {
	for _, reason := range reasons {
		switch reason {
		case "timestamp_out_of_window":
			return "A message is valid for five minutes: check the clock of this machine and sign the payload again"
		case "unknown_signer":
			return "The key is not registered at this hub: run `signalcast signer register FILE`"
		case "signer_revoked", "signer_expired":
			return "The key is revoked or expired: create a new one with `signalcast signer new`"
		case "bad_signature":
			return "The message was changed after it was signed, or is for another hub: sign it again with a key whose issuer is this hub"
		case "payload":
			return "Check the payload against its schema: /api/protocol/v1/schemas/TYPE of the hub"
		}
	}
	return ""
}
