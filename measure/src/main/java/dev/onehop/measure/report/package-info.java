/** The display of results: text tables and the self-contained HTML report. */
@NullMarked
package dev.onehop.measure.report;

import org.jspecify.annotations.NullMarked;
