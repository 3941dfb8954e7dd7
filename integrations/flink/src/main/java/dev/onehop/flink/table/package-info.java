/** Collections as tables of Flink SQL: the connector {@code onehop-mongodb}. */
@NullMarked
package dev.onehop.flink.table;

import org.jspecify.annotations.NullMarked;
