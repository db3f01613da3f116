// Package lane assigns content lanes and categories to markets. The tags of the venue and the words of a title decide.
// The decision of an administrator has precedence and is permanent.
package lane
