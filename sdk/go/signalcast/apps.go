package signalcast

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Apps act for people who let them. They are registered with an identity token.
type Apps struct{ c *Client }

// Register registers an app; its secret is in this answer and nowhere else.
func (p Apps) Register(ctx context.Context, draft client.AppDraft) (client.App, error) {
	return read[client.App](p.c.Hub.RegisterApp(ctx, draft))
}

// List reads the apps of the one who asks.
func (p Apps) List(ctx context.Context) (client.AppList, error) {
	return read[client.AppList](p.c.Hub.ListApps(ctx))
}

// Get reads what everybody may know of an app.
func (p Apps) Get(ctx context.Context, id uuid.UUID) (client.PublicApp, error) {
	return read[client.PublicApp](p.c.Hub.GetApp(ctx, id))
}

// Exchange asks for tokens: with a code, or with a refresh token.
func (p Apps) Exchange(ctx context.Context, ask client.TokenRequest) (client.TokenAnswer, error) {
	return read[client.TokenAnswer](p.c.Hub.IssueToken(ctx, ask))
}

// Issuer reads what the hub says of its delegated sign-in and its signed messages.
func (p Apps) Issuer(ctx context.Context) (client.Issuer, error) {
	return read[client.Issuer](p.c.Hub.GetIssuer(ctx))
}

// Messages submits, verifies and reads signed messages.
type Messages struct{ c *Client }

// Submit hands over a signed message. The signature is the credential, and the same bytes have
// their effect once, so that they are sent again when an answer is lost.
func (m Messages) Submit(ctx context.Context, signed Signed) (client.SubmittedMessage, error) {
	return read[client.SubmittedMessage](m.c.Hub.SubmitMessageWithBody(ctx, "application/json", signed.reader()))
}

// Verify asks what is wrong with a message; nothing is stored.
func (m Messages) Verify(ctx context.Context, signed Signed) (client.MessageVerdict, error) {
	return read[client.MessageVerdict](m.c.Hub.VerifyMessageWithBody(ctx, "application/json", signed.reader()))
}

// Get reads an accepted message. A hidden message has no payload, so its id and its signature
// cannot be checked.
func (m Messages) Get(ctx context.Context, id string) (client.KeptMessage, error) {
	return read[client.KeptMessage](m.c.Hub.GetMessage(ctx, id))
}

// All lists accepted messages, newest first, over all pages. Payload is nil for a message whose
// text an administrator has hidden.
func (m Messages) All(ctx context.Context, params *client.ListMessagesParams) iter.Seq2[client.KeptMessage, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.MessageList, error) {
		q := q
		q.Cursor = cursor
		return read[client.MessageList](m.c.Hub.ListMessages(ctx, &q))
	}, func(l client.MessageList) ([]client.KeptMessage, *string) { return l.Messages, l.NextCursor })
}

// RegisterSigner makes a key known as a signer of the caller's: of the grant with a token of
// an app, of the operator with a key. It proves over a challenge that it has the key. The
// credential needs profile:read, too.
func (m Messages) RegisterSigner(ctx context.Context, by Signer, scopes []string, label string) (client.Signer, error) {
	issuer, err := m.c.Apps.Issuer(ctx)
	if err != nil {
		return client.Signer{}, err
	}
	me, err := m.c.People.Me(ctx)
	if err != nil {
		return client.Signer{}, err
	}
	challenge, err := read[client.SignerChallenge](m.c.Hub.ChallengeSigner(ctx, client.SignerChallengeDraft{PublicKey: by.PublicKey()}))
	if err != nil {
		return client.Signer{}, err
	}
	var app, expires any
	draft := client.SignerDraft{Challenge: challenge.Challenge, Label: &label, PublicKey: by.PublicKey(), Scopes: scopes}
	if me.Grant != nil {
		app = me.Grant.AppID
	} else { // a signer made with an operator key must expire within 90 days
		// By the clock of the hub; in whole seconds, because the body and the proof must have the same text.
		at := challenge.ExpiresAt.Add(89 * 24 * time.Hour).UTC().Truncate(time.Second)
		draft.ExpiresAt, expires = &at, at.Format(time.RFC3339)
	}
	draft.Proof, err = by.Prove(issuer.Issuer, map[string]any{
		"appId": app, "challenge": challenge.Challenge, "denpaId": me.DenpaID, "expiresAt": expires, "publicKey": by.PublicKey(), "scopes": scopes,
	})
	if err != nil {
		return client.Signer{}, err
	}
	return read[client.Signer](m.c.Hub.RegisterSigner(ctx, draft))
}
