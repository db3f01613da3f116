package signalcast

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// People signs users in, follows operators, and reads passports and follower counts. Follow and Unfollow require a session,
// which SignIn opens.
type People struct{ c *Client }

// Follows returns the follower counts of an operator, and whether the signed-in user follows the operator.
func (p People) Follows(ctx context.Context, handle string) (client.FollowCounts, error) {
	return read[client.FollowCounts](p.c.Hub.GetFollowCounts(ctx, &client.GetFollowCountsParams{Handle: handle}))
}

// Follow makes the signed-in user follow an operator. It is idempotent.
func (p People) Follow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Follow(ctx, client.FollowAsk{Handle: handle}))
}

// Unfollow makes the signed-in user stop following an operator. It is idempotent.
func (p People) Unfollow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Unfollow(ctx, &client.UnfollowParams{Handle: &handle}))
}

// Me returns the passport (profile and identities) of the owner of the credential.
func (p People) Me(ctx context.Context) (client.OwnPassport, error) {
	return read[client.OwnPassport](p.c.Hub.GetMe(ctx))
}

// Keys manages operator keys. Mint requires an identity token; an operator key is not sufficient.
type Keys struct{ c *Client }

// Mint creates an operator key. Only this response contains the key in plaintext. The client does not retry the request: after a
// lost response, find the key with List and revoke it. Unless mint.Strict is false, the key is strict, which limits it to its
// permissions on every route.
func (k Keys) Mint(ctx context.Context, mint client.KeyMint) (client.MintedKey, error) {
	if mint.Strict == nil {
		strict := true
		mint.Strict = &strict
	}
	return read[client.MintedKey](k.c.Hub.MintKey(ctx, mint))
}

// List returns the keys of the operator, without the plaintext of the keys.
func (k Keys) List(ctx context.Context) (client.KeyList, error) {
	return read[client.KeyList](k.c.Hub.ListKeys(ctx))
}

// Revoke revokes a key. After the response, no service accepts the key.
func (k Keys) Revoke(ctx context.Context, id uuid.UUID) (client.RevokedKey, error) {
	return read[client.RevokedKey](k.c.Hub.RevokeKey(ctx, &client.RevokeKeyParams{ID: id}))
}
