package signalcast

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// People signs in, follows operators and reads followers. Following requires a session: see SignIn.
type People struct{ c *Client }

// Follows returns the follower counts of an operator, and whether the signed-in operator follows it.
func (p People) Follows(ctx context.Context, handle string) (client.FollowCounts, error) {
	return read[client.FollowCounts](p.c.Hub.GetFollowCounts(ctx, &client.GetFollowCountsParams{Handle: handle}))
}

// Follow follows an operator. It is idempotent.
func (p People) Follow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Follow(ctx, client.FollowAsk{Handle: handle}))
}

// Unfollow stops following an operator. It is idempotent.
func (p People) Unfollow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Unfollow(ctx, &client.UnfollowParams{Handle: &handle}))
}

// Me returns the passport (the profile and identities) of the owner of the credential.
func (p People) Me(ctx context.Context) (client.OwnPassport, error) {
	return read[client.OwnPassport](p.c.Hub.GetMe(ctx))
}

// Keys manages operator keys. Minting requires an identity token, not a key.
type Keys struct{ c *Client }

// Mint creates a key. Its plaintext is only in this response. The client does not retry it: after a lost response, find the key
// with List and revoke it. The key is strict, which limits it to its permissions on every route, unless mint.Strict is false.
func (k Keys) Mint(ctx context.Context, mint client.KeyMint) (client.MintedKey, error) {
	if mint.Strict == nil {
		strict := true
		mint.Strict = &strict
	}
	return read[client.MintedKey](k.c.Hub.MintKey(ctx, mint))
}

// List returns the keys of the operator, without plaintext.
func (k Keys) List(ctx context.Context) (client.KeyList, error) {
	return read[client.KeyList](k.c.Hub.ListKeys(ctx))
}

// Revoke revokes a key. After the response, no service accepts the key.
func (k Keys) Revoke(ctx context.Context, id uuid.UUID) (client.RevokedKey, error) {
	return read[client.RevokedKey](k.c.Hub.RevokeKey(ctx, &client.RevokeKeyParams{ID: id}))
}
