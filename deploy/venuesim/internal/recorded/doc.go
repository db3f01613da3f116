// Package recorded serves recorded answers of the venues as a world.Source for
// each: the objects are kept whole and given back as they were, whatever is odd
// about them. It knows a file by its form: of Polymarket lists of metadata
// objects, single ones, list envelopes, order-book pages and one price history;
// of Kalshi lists of events and markets, single ones, and the lists of its
// website, whose markets are written anew in the form of the trade API; of
// Limitless pages of active markets, single ones and groups; of Manifold lists
// and single markets. Files of any other form are named and left out.
package recorded
