package signalcast

import (
	"context"
	"iter"
	"time"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// Apps registers and reads apps. An app acts for the users who connected it. Registration requires an identity token.
type Apps struct{ c *Client }

// Register registers an app. Only this response contains the client secret.
func (p Apps) Register(ctx context.Context, draft client.AppDraft) (client.App, error) {
	return read[client.App](p.c.Hub.RegisterApp(ctx, draft))
}

// List returns the apps that the caller registered.
func (p Apps) List(ctx context.Context) (client.AppList, error) {
	return read[client.AppList](p.c.Hub.ListApps(ctx))
}

// Get returns the public description of an app.
func (p Apps) Get(ctx context.Context, id uuid.UUID) (client.PublicApp, error) {
	return read[client.PublicApp](p.c.Hub.GetApp(ctx, id))
}

// Exchange returns tokens for an authorization code or a refresh token.
func (p Apps) Exchange(ctx context.Context, ask client.TokenRequest) (client.TokenAnswer, error) {
	return read[client.TokenAnswer](p.c.Hub.IssueToken(ctx, ask))
}

// Issuer returns the OAuth metadata of the hub, which also contains the issuer URL for signed messages.
func (p Apps) Issuer(ctx context.Context) (client.Issuer, error) {
	return read[client.Issuer](p.c.Hub.GetIssuer(ctx))
}

// Messages submits, verifies and reads signed messages.
type Messages struct{ c *Client }

// Submit submits a signed message. The signature is the credential. The client retries after a lost response, because the hub
// executes a message only once.
func (m Messages) Submit(ctx context.Context, signed Signed) (client.SubmittedMessage, error) {
	return read[client.SubmittedMessage](m.c.Hub.SubmitMessageWithBody(ctx, "application/json", signed.reader()))
}

// Verify checks a signed message on the hub and returns the errors in it. The hub does not store the message.
func (m Messages) Verify(ctx context.Context, signed Signed) (client.MessageVerdict, error) {
	return read[client.MessageVerdict](m.c.Hub.VerifyMessageWithBody(ctx, "application/json", signed.reader()))
}

// Get returns an accepted message. A hidden message has no payload, so its id and signature cannot be verified.
func (m Messages) Get(ctx context.Context, id string) (client.KeptMessage, error) {
	return read[client.KeptMessage](m.c.Hub.GetMessage(ctx, id))
}

// All returns all accepted messages that match params, newest first. Payload is nil if an administrator has hidden the text of
// the message.
func (m Messages) All(ctx context.Context, params *client.ListMessagesParams) iter.Seq2[client.KeptMessage, error] {
	q := at(params)
	return pages(q.Cursor, func(cursor *string) (client.MessageList, error) {
		q := q
		q.Cursor = cursor
		return read[client.MessageList](m.c.Hub.ListMessages(ctx, &q))
	}, func(l client.MessageList) ([]client.KeptMessage, *string) { return l.Messages, l.NextCursor })
}

// RegisterSigner registers the public key of a signer, which is the parameter by. If the credential of the client is a token of
// an app, the signer belongs to the grant of the app; if it is an operator key, the signer belongs to the operator and expires
// after 89 days. RegisterSigner signs a challenge of the hub to show that the caller has the private key. A token of an app also
// needs the scope profile:read, and an operator key the permission read.
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
		// The time is relative to the clock of the hub. It has whole seconds, because it must have the same text in the
		// body and in the proof.
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
