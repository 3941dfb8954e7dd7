package dev.onehop.measure.report;

/** How a line looks, the same in every chart and in its legend. */
interface Look {

  /** CSS classes, which give colour and dashes. */
  String cssClass();

  /** The marker's outline around the origin, so that colour is never the only difference. */
  String marker();

  /** For a person. */
  String label();

  /** Adds it to a legend. */
  default void appendTo(StringBuilder legend) {
    legend.append("<li><svg viewBox=\"-16 -8 32 16\" aria-hidden=\"true\"><g class=\"series ");
    legend.append(cssClass()).append("\"><path class=\"line\" d=\"M-15 0H15\"/>");
    legend.append("<path class=\"mark\" d=\"").append(marker()).append("\"/></g></svg>");
    legend.append(Html.escape(label())).append("</li>");
  }
}
