/** What routing adds to an operation. */
@NullMarked
package dev.onehop.jmh.routing;

import org.jspecify.annotations.NullMarked;
