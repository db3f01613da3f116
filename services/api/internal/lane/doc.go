// Package lane assigns content lanes and programme categories to markets. The lane follows from the tags of the venue and
// from the words of the title. The decision of an administrator has precedence and is permanent.
package lane
