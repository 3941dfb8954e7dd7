/** The cost of routing decisions: lookups, targeting, building and refreshing tables. */
@NullMarked
package dev.onehop.jmh.core;

import org.jspecify.annotations.NullMarked;
