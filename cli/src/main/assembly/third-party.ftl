Libraries of others in this archive. Each is under its own licence; its jar holds the texts that it asks to be passed on.

<#list dependencyMap as entry>
<#assign library = entry.getKey()/>
<#if library.groupId != "dev.onehop">
${library.groupId}:${library.artifactId}:${library.version}
    ${library.name!library.artifactId}<#if library.url??>, ${library.url}</#if>
    Licence: <#list entry.getValue() as licence>${licence}<#if licence_has_next> or </#if></#list>
</#if>
</#list>
