package signalcast

import (
	"context"

	"github.com/google/uuid"

	"github.com/signalcast/signalcast/sdk/go/client"
)

// People are who follows whom. To follow takes a session: SignIn.
type People struct{ c *Client }

// Follows reads how many follow an operator, and whether the one who has signed in does.
func (p People) Follows(ctx context.Context, handle string) (client.FollowCounts, error) {
	return read[client.FollowCounts](p.c.Hub.GetFollowCounts(ctx, &client.GetFollowCountsParams{Handle: handle}))
}

// Follow follows an operator; a second time changes nothing.
func (p People) Follow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Follow(ctx, client.FollowAsk{Handle: handle}))
}

// Unfollow ends it; a second time changes nothing.
func (p People) Unfollow(ctx context.Context, handle string) (client.Followed, error) {
	return read[client.Followed](p.c.Hub.Unfollow(ctx, &client.UnfollowParams{Handle: &handle}))
}

// Me reads the passport of who has the key or the token.
func (p People) Me(ctx context.Context) (client.OwnPassport, error) {
	return read[client.OwnPassport](p.c.Hub.GetMe(ctx))
}

// Keys are operator keys. They are minted with an identity token, never with a key.
type Keys struct{ c *Client }

// Mint makes a key; its plaintext is in this answer and nowhere else. It is never sent twice:
// after a lost answer, List has a key that Revoke ends. The key is strict, held to its
// permissions on every route, unless mint.Strict says otherwise.
func (k Keys) Mint(ctx context.Context, mint client.KeyMint) (client.MintedKey, error) {
	if mint.Strict == nil {
		strict := true
		mint.Strict = &strict
	}
	return read[client.MintedKey](k.c.Hub.MintKey(ctx, mint))
}

// List reads the keys of the operator, without their plaintext.
func (k Keys) List(ctx context.Context) (client.KeyList, error) {
	return read[client.KeyList](k.c.Hub.ListKeys(ctx))
}

// Revoke ends a key: from this answer on it is accepted nowhere.
func (k Keys) Revoke(ctx context.Context, id uuid.UUID) (client.RevokedKey, error) {
	return read[client.RevokedKey](k.c.Hub.RevokeKey(ctx, &client.RevokeKeyParams{ID: id}))
}
