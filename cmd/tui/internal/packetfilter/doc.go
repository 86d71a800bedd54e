// Package packetfilter selects and sorts packets by expressions that users type, such as
// "bytes > 800 && lost".
//
// The grammar, with the precedence of Go:
//
//	or         = and { ("||" | "or") and }
//	and        = not { ("&&" | "and") not }
//	not        = ("!" | "not") not | "(" or ")" | condition | comparison
//	condition  = "all" | "trouble" | "late" | the name of an outcome, such as "lost"
//	comparison = field ("==" | "=" | "!=" | "<" | "<=" | ">" | ">=") value
//
// A packet without a value, such as the delay of a lost packet, matches no comparison of that value.
package packetfilter
