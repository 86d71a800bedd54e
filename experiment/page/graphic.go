package page

// graphic is a drawing that the template writes as SVG.
type graphic struct {
	Title, Description string
	Width, Height      int
	Lines              []stroke
	Paths              []curve
	Dots               []dot
	Texts              []caption
	Key                []stripPart // legend of the colours
}

// The elements of a graphic: line, path, circle and text of SVG, with the attributes of those names. Class
// is the CSS class, and Title is shown while the pointer is over a dot.
type (
	stroke  struct{ X1, Y1, X2, Y2, Class string }
	curve   struct{ D, Class string }
	dot     struct{ X, Y, R, Class, Title string }
	caption struct{ X, Y, Class, Text string }
)
